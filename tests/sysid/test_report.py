import dataclasses
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from sysid._choose import choose_model
from sysid._estimate import Estimate
from sysid._experiments import experiment
from sysid._finding import Finding, Findings
from sysid._identifiability import Direction
from sysid._log import Log
from sysid._metrics import Comparison
from sysid._profile import Profile
from sysid._report import channel_pictures, report_html
from sysid._result import Fit
from sysid._rounding import interval, rounded, short, told
from sysid._truth import known_truth
from sysid._verdict import Caution


def made_up(**changes):
    """A result with a bit of everything: a weak parameter, an open one, a gap, a hold-out, an awkward log name."""
    time = np.linspace(0.0, 1.0, 200)
    log = Log("run <1>", time, {name: np.sin(9 * time) for name in ("voltage", "current", "velocity")})
    random = np.random.default_rng(3)

    def comparison(name, channel, role):
        predicted = np.sin(9 * time)
        usable = time < 0.9
        measured = predicted + 0.05 * random.standard_normal(200)
        return Comparison(name, channel, time, measured, np.where(usable, predicted, np.nan), usable, "A", 0.05, role)

    estimates = (
        Estimate("resistance", 1.60035, "ohm", 2.6e-4, (1.5998, 1.6009), "identified", 1.6e-4),
        Estimate("motor_constant", 0.042, "N m/A", 8e-3, (0.03, 0.06), "weak", 0.2),
        Estimate("inertia", 5.5e-5, "kg m^2", None, None, "open", None),
    )
    directions = (
        Direction(np.array([1.0, 0.0, 0.0]), 1e-4, 1e4),
        Direction(np.array([0.0, 0.8, 0.6]), 0.2, 5.0),
        Direction(np.array([0.0, -0.6, 0.8]), np.inf, 0.0),
    )
    fit = Fit(
        model=choose_model([log]),
        estimates=estimates,
        directions=directions,
        direction_names=tuple(e.name for e in estimates),
        correlation=np.array([[1.0, 0.2, 0.0], [0.2, 1.0, -0.99], [0.0, -0.99, 1.0]]),
        comparisons=(comparison("run <1>", "current", "train"), comparison("other/run", "current", "hold-out")),
        cautions=(Caution("undetermined", "the logs fix 2 of 3 combinations & leave <inertia> open", ("inertia",)),),
        noise={"current": 0.05},
        columns={"voltage": "u [V]", "current": "i [mA]"},
        timing={"compile_s": 2.0, "solve_s": 0.5},
        trace=(("short windows", 0, 900.0), ("short windows", 1, 200.0), ("whole runs", 0, 180.0)),
        settings={"seed": 0, "outputs": ["current"]},
        profiles=(
            Profile(
                *("motor_constant", "N m/A", 0.042, np.array([0.01, 0.03, 0.042, 0.07, 4.0])),
                *(np.array([np.inf, 5.0, 0.0, 1.0, 1.2]), (0.032, None), 2.0),
                {"resistance": np.full(5, 1.6), "inertia": np.array([1e-5, 2e-5, 5e-5, 1e-4, 3e-4])},
            ),
        ),
    )
    return dataclasses.replace(fit, **changes)


class _Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.images, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found[key] for key in ("src", "href", "data") if key in found]
        if tag == "img":
            self.images.append(found)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def report():
    """The report of `made_up()`; its pictures take seconds."""
    return report_html(made_up())


def test_the_page_is_whole_and_needs_nothing_beside_it(report):
    text = report
    page = _Page(text)
    assert page.open == []
    assert page.links
    assert all(link.startswith("data:image/png;base64,") for link in page.links)
    assert not re.search(r"https?://|@import|url\(", text)
    assert all(image["alt"] for image in page.images)
    # Names come from strangers' files.
    assert "<1>" not in text
    assert "run <1>" in page.text


def test_the_verdict_comes_first_and_weak_parameters_get_an_experiment(report):
    page = _Page(report)
    text = page.text
    order = [
        "Use with care",
        "Parameters",
        "What would pin the rest down",
        "Measured and simulated",
        "What the logs determine",
    ]
    assert sorted(order, key=text.index) == order
    assert "leave <inertia> open" in text
    assert "1.60035" in text
    assert "0.00026" in text
    assert experiment("inertia") in text
    assert experiment("resistance") not in text
    assert "not known" in text
    assert "2 of 3" in text
    open_end = "at least 0.032 N m/A, no upper end: up to 4 the logs are met as well; inertia makes up for it"
    assert open_end in text
    good = made_up(estimates=made_up().estimates[:1], cautions=(), comparisons=made_up().comparisons[:1])
    assert "determine every free parameter" in _Page(report_html(good)).text


def test_truth_and_findings_are_shown_where_they_are_known(report):
    finding = Finding("gap", "a gap of 0.2 s: windows end there", severity="warning")
    text = _Page(report_html(made_up(), [Findings("run <1>", (finding,))], {"resistance": 1.6})).text
    assert "truth" in text
    assert "a gap of 0.2 s" in text
    assert "truth" not in _Page(report).text


def test_advice_speaks_of_what_drives_the_bench():
    assert "reverse the torque sharply" in experiment("inertia", "torque")
    assert "reverse the set-point sharply" in experiment("inertia", "command")
    made = made_up()
    driven = dataclasses.replace(made, model=dataclasses.replace(made.model, command="torque"))
    text = _Page(report_html(driven)).text
    assert "reverse the torque" in text
    assert "reverse the voltage" not in text


def test_a_picture_per_channel():
    pictures = channel_pictures(made_up())
    assert set(pictures) == {"run__1__current.png", "other_run_current.png"}
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())
    train = made_up().comparisons[0]
    alike = made_up(comparisons=(train, dataclasses.replace(train, log="run {1}")))
    assert set(channel_pictures(alike)) == {"run__1__current.png", "run__1__current-2.png"}


def test_a_parameter_at_its_bound_has_no_correlation():
    *others, last = made_up().estimates
    bound = dataclasses.replace(last, flag="at bound")
    text = report_html(made_up(estimates=(*others, bound), correlation=np.array([[1.0, 0.2], [0.2, 1.0]])))
    assert "at bound" in _Page(text).text


def test_nothing_to_draw_is_no_fault():
    empty = made_up(estimates=(), directions=(), direction_names=(), correlation=np.zeros((0, 0)), trace=())
    assert "Parameters" in report_html(empty)
    nan = made_up()
    failed = dataclasses.replace(nan.comparisons[0], predicted=np.full(200, np.nan))
    assert "not finite" in report_html(made_up(comparisons=(failed,)))


QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Nothing can be fetched: a page that needs the network is broken here.
    "--host-resolver-rules=MAP * ~NOTFOUND",
]
MEASURED = """<script>addEventListener("load", () => {
  const images = [...document.images].filter(i => !i.complete || i.naturalWidth < 50 || i.width < 50).length;
  const wide = [...document.querySelectorAll("body *")].filter(e => !e.closest(".wide") &&
    e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName);
  const outside = performance.getEntriesByType("resource").filter(r => !r.name.startsWith("data:")).length;
  document.title = JSON.stringify([images, document.documentElement.scrollWidth - innerWidth, wide, outside]);
})</script>"""


def in_browser(*arguments: str, folder: pathlib.Path) -> str:
    """What Chromium prints; skips where there is none that runs."""
    browser = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium to open the report with")
    command = [browser, *QUIET, f"--user-data-dir={folder / 'profile'}", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=120)
    if done.returncode != 0:
        pytest.skip(f"Chromium does not run here: {done.stderr[-200:]!r}")
    return done.stdout.decode()


def test_it_looks_like_a_page_in_a_browser(report, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(report, encoding="utf-8")
    picture = tmp_path / "page.png"
    in_browser("--window-size=1000,1600", f"--screenshot={picture}", page.as_uri(), folder=tmp_path)
    from matplotlib.image import imread

    seen = imread(picture)[..., :3]
    assert seen.shape[:2] == (1600, 1000)
    # A blank or broken page is one colour; the pictures alone bring thousands of inked points.
    assert np.mean(np.any(seen < 0.9, axis=-1)) > 0.02
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 100


@pytest.mark.parametrize("width", [1000, 520])
def test_nothing_overflows_or_is_missing_in_a_browser(report, tmp_path, width):
    page = tmp_path / "report.html"
    page.write_text(report.replace("</body>", f"{MEASURED}</body>"), encoding="utf-8")
    found = in_browser(f"--window-size={width},900", "--dump-dom", page.as_uri(), folder=tmp_path)
    title = html.unescape(re.search("<title>(.*?)</title>", found, re.DOTALL)[1])
    broken, over, wide, outside = json.loads(title)
    assert (broken, outside) == (0, 0)
    assert over <= 0, wide
    assert wide == []


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (1.60035, 2.6e-4, ("1.60035", "0.00026")),
        (5.5021e-5, 1.3e-8, ("5.5021e-05", "1.3e-08")),
        (0.05, 0.3, ("0.05", "0.30")),
        (12345.0, 123.0, ("12345", "123")),
        (3.2e7, 1e5, ("3.200e+07", "1.0e+05")),
        (1.6, None, ("1.6", "?")),
        (0.0, 0.0, ("0", "?")),
    ],
)
def test_as_many_digits_as_the_error_leaves(value, error, words):
    assert rounded(value, error) == words


def test_what_is_not_known_gets_no_digits():
    assert told(0.09272, None, "open") == ("(0.09)", "?")
    assert told(0.0927, 0.01, "open") == ("0.093", "0.010")
    assert told(0.5, None, "at bound") == ("0.5", "?")


def test_intervals_in_words():
    assert interval((1.5998, 1.6009), 2.6e-4) == "1.59980 to 1.60090"
    assert interval(None, None) == "not known"
    assert interval((1e-4, 1.1e5), 0.2) == "0.0001 to 1.1e+05"
    assert short(None) == "-"


def test_truth_is_read_only_where_it_names_the_log(tmp_path):
    log = tmp_path / "a.csv"
    assert known_truth([log]) == {}
    values = {"torque_constant": {"value": 0.04, "unit": "N m/A"}, "back_emf_constant": {"value": 0.04, "unit": ""}}
    (tmp_path / "truth.json").write_text(json.dumps({"logs": {"a.csv": values}}))
    assert known_truth([log]) == {"torque_constant": 0.04, "back_emf_constant": 0.04, "motor_constant": 0.04}
    assert known_truth([log, tmp_path / "b.csv"]) == {}
    (tmp_path / "truth.json").write_text("[]")
    assert known_truth([log]) == {}
