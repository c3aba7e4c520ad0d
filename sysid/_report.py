"""One file for a reader: what was found, how sure it is, and what would make it surer."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from ._estimate import Estimate
from ._experiments import experiment
from ._finding import Findings
from ._metrics import Comparison
from ._profile import Profile, in_words
from ._report_plots import (
    channel_figure,
    convergence_figure,
    correlation_figure,
    identifiability_figure,
    png,
    profile_figure,
)
from ._result import Fit
from ._rounding import interval, short, told
from ._single_logs import Spread
from ._stages import stages_of

_VERDICTS = {
    "ok": "The logs determine every free parameter, and the model follows them to the noise of the sensors.",
    "warning": "Use with care:",
    "failed": "No usable result: the model's prediction is not finite.",
}
_DULL = {"NoSlew", "NoCogging", "Frictionless", "Isothermal", "Unlimited", "NoCurrentLimit", "NoDrag", "NoDryFriction"}


def report_html(
    fit: Fit,
    findings: Sequence[Findings] = (),
    truth: Mapping[str, float] | None = None,
    pictures: Mapping[str, bytes] | None = None,
) -> str:
    """The report as one HTML page that needs nothing beside it.

    **Arguments:** `findings` of the logs; `truth`: known values by parameter name [SI], shown beside the estimates;
    `pictures`: those of `channel_pictures`, where they have been drawn already.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sysid", "."), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("report.html.jinja").render(
        _content(fit, findings, truth or {}, channel_pictures(fit) if pictures is None else pictures)
    )


def channel_pictures(fit: Fit) -> dict[str, bytes]:
    """A PNG per log and channel, by file name."""
    found: dict[str, bytes] = {}
    for comparison in _shown(fit):
        stem, number = _file_name(comparison), 1
        # Two logs may differ only in what a file name cannot hold.
        while f"{stem}.png" in found:
            number += 1
            stem = f"{_file_name(comparison)}-{number}"
        found[f"{stem}.png"] = png(channel_figure(comparison))
    return found


def _shown(fit: Fit) -> list[Comparison]:
    """The comparisons of which there is something to draw."""
    return [comparison for comparison in fit.comparisons if comparison.usable.any()]


def _file_name(comparison: Comparison) -> str:
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in comparison.log)
    return f"{safe}_{comparison.channel}"


def _content(
    fit: Fit, findings: Sequence[Findings], truth: Mapping[str, float], pictures: Mapping[str, bytes]
) -> dict[str, Any]:
    fitted = list(dict.fromkeys(c.log for c in fit.comparisons if c.role == "train"))
    return {
        "title": f"Fit of {', '.join(fitted[:3])}{' and more' if len(fitted) > 3 else ''}",
        "description": fit.model.description,
        "status": fit.status,
        "verdict": _VERDICTS[fit.status],
        "warnings": [caution.message for caution in fit.cautions],
        "truth": bool(truth),
        "parameters": [_parameter(estimate, truth) for estimate in fit.estimates],
        "rank": fit.to_dict()["rank"],
        "experiments": [
            {"name": e.name, "words": experiment(e.name, fit.model.command)}
            for e in fit.estimates
            if e.flag != "identified"
        ],
        "errors": [_error(comparison) for comparison in fit.comparisons],
        "channels": [
            {"source": _inline(picture), "words": f"{c.log}, {c.channel}: measured, simulated, residual"}
            for c, picture in zip(_shown(fit), pictures.values(), strict=True)
        ],
        "determined": _determined(fit) if fit.directions else None,
        "spreads": [_spread(fit, spread) for spread in fit.spreads],
        "profiles": [_profile(fit, profile) for profile in fit.profiles],
        "convergence": _inline(png(convergence_figure(fit.trace))),
        "timing": ", ".join(f"{words}: {fit.timing[key]:.1f} s" for key, words in _TIMES if key in fit.timing),
        "columns": list(fit.columns.items()),
        "findings": [f"{found.log}: {item.message}" for found in findings for item in found],
        "stages": [(slot, stage) for slot, stage in stages_of(fit.bench).items() if stage not in _DULL],
        "settings": ", ".join(f"{key.replace('_', ' ')}: {_words(value)}" for key, value in fit.settings.items()),
    }


_TIMES = (("compile_s", "compilation"), ("solve_s", "solution"))


def _determined(fit: Fit) -> dict[str, str]:
    # A parameter at a bound or without effect has a part in a combination, but no error of its own.
    moving = [e.name for e in fit.estimates if e.flag not in ("at bound", "not excited")]
    known = moving if len(moving) == len(fit.correlation) else [str(k + 1) for k in range(len(fit.correlation))]
    return {
        "identifiability": _inline(png(identifiability_figure(fit.directions, fit.direction_names))),
        "correlation": _inline(png(correlation_figure(known, fit.correlation))),
    }


def _spread(fit: Fit, spread: Spread) -> dict[str, str]:
    known = [value for value in spread.values.values() if value is not None]
    joint = next((e for e in fit.estimates if e.name == spread.name), None)
    ends = (min(known), max(known)) if spread.deviation is not None else None
    return {
        "name": spread.name,
        "unit": spread.unit,
        "joint": "not known" if joint is None else interval(joint.ci95, joint.std_error),
        "range": interval(ends, spread.expected),
        "deviation": short(spread.deviation, 2),
        "expected": short(spread.expected, 2),
        "ratio": short(spread.ratio, 2),
        "logs": f"{len(known)} of {len(spread.values)}",
        "style": "care" if spread.disagrees else "",
    }


def _profile(fit: Fit, profile: Profile) -> dict[str, str]:
    stated = next((e.ci95 for e in fit.estimates if e.name == profile.name), None)
    return {"words": in_words(profile), "source": _inline(png(profile_figure(profile, stated)))}


def _words(value: Any) -> str:
    return " and ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _inline(picture: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}"


def _parameter(estimate: Estimate, truth: Mapping[str, float]) -> dict[str, str]:
    value, error = told(estimate.value, estimate.std_error, estimate.flag)
    styles = {"identified": "", "weak": "weak"}
    return {
        "name": estimate.name,
        "value": value,
        "error": error,
        "unit": estimate.unit,
        "interval": interval(estimate.ci95, estimate.std_error),
        "truth": short(truth[estimate.name], 6) if estimate.name in truth else "",
        "flag": estimate.flag,
        "style": styles.get(estimate.flag, "care"),
    }


def _error(comparison: Comparison) -> dict[str, str]:
    metric = comparison.metric()
    share = metric["nrmse"]
    return {
        "log": comparison.log,
        "role": "fitted" if comparison.role == "train" else "held out",
        "channel": comparison.channel.replace("_", " "),
        "rmse": short(metric["rmse"]),
        "mae": short(metric["mae"]),
        "unit": comparison.unit,
        "share": "-" if share is None else f"{100 * share:.2g} %",
        "noise": short(comparison.sigma),
    }
