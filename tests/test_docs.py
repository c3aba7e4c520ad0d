"""Promises of the documents that a program can check: docstrings, links, machine paths, the table of the README."""

import importlib
import inspect
import pathlib
import re
import shlex
import subprocess
import types

import pytest
import typer
from typer.testing import CliRunner

import jaxmotor
import sysid
from sysid.cli import app

ROOT = pathlib.Path(__file__).resolve().parents[1]
_MODULES = ("jaxmotor.mjcf", "jaxmotor.urdf", "jaxmotor.plot")
# Put together, so that this file does not hold them itself.
_FORBIDDEN = ("/wo" + "rk/", "/ro" + "ot/", "TO" + "DO", "FIX" + "ME")


def _public() -> dict[str, object]:
    found = {f"{module.__name__}.{name}": getattr(module, name) for module in (jaxmotor, sysid) for name in dir(module)}
    for name in _MODULES:
        module = importlib.import_module(name)
        found |= {f"{name}.{key}": value for key, value in vars(module).items() if key in _names(module)}
    return {
        name: value
        for name, value in found.items()
        if not name.rpartition(".")[2].startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.partition(".")[0] in ("jaxmotor", "sysid")
    }


def _names(module: types.ModuleType) -> list[str]:
    """What a module offers: its own names, and those that it takes from elsewhere as `name as name`."""
    source = inspect.getsource(module)
    return [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ or f"{name} as {name}" in source
    ]


def _without(public: dict[str, object]) -> list[str]:
    lacking = []
    for name, value in public.items():
        # A dataclass without a docstring is given its signature by Python.
        own = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
        if not own or own.startswith(f"{name.rpartition('.')[2]}("):
            lacking.append(name)
        if inspect.isclass(value):
            for method, function in vars(value).items():
                documented = any(getattr(getattr(base, method, None), "__doc__", None) for base in value.__mro__)
                if inspect.isfunction(function) and not method.startswith("_") and not documented:
                    lacking.append(f"{name}.{method}")
    return lacking


def test_every_public_name_has_a_docstring():
    public = _public()
    assert len(public) > 150
    assert _without(public) == []


def test_functions_name_what_they_raise():
    """A public function whose own lines raise an error says so."""
    raising = re.compile(r"^ +raise ", re.MULTILINE)
    silent = [
        name
        for name, value in _public().items()
        if inspect.isfunction(value)
        and raising.search(inspect.getsource(value))
        and "**Raises:**" not in str(value.__doc__)
    ]
    assert silent == []


def test_links_resolve_inside_the_repository():
    for document in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        headings = {re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-") for line in text.splitlines()}
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"https?://", target):
                continue
            path, _, heading = target.partition("#")
            assert not path or ((ROOT / document).parent / path).exists(), f"{document}: {target}"
            assert not heading or path or heading in headings, f"{document}: {target}"


def test_tracked_files_name_no_machine_and_no_unfinished_business():
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    bad = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        bad += [f"{name}: {word}" for word in _FORBIDDEN if word.encode() in content]
    assert bad == []


_DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md", "benchmarks/README.md")


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_files_named_in_a_document_exist(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w/])(?:examples|tests|benchmarks|notebooks)/[\w./-]*\w", text))
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def _typed() -> list[str]:
    """Every command of `sysid` in the README and in the help of the commands."""
    readme = re.findall(r"^(sysid .*?)(?:  .*)?$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    helped = re.findall(r"`(sysid .*?)`", (ROOT / "sysid" / "cli.py").read_text(encoding="utf-8"))
    return [line for line in dict.fromkeys(readme + helped) if line != "sysid --help"]


def test_there_are_commands_in_the_documents():
    assert len(_typed()) > 12


@pytest.mark.parametrize("line", _typed())
def test_commands_in_documents_are_understood(line):
    """Commands, options and their values, before anything is run."""
    group = typer.main.get_command(app)
    _, name, *arguments = shlex.split(line.partition(" > ")[0])
    command = group.commands[name]
    context = command.make_context(name, arguments)
    assert context.params


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_commands_of_the_readme_run(tmp_path, monkeypatch):
    """On the example logs under the names that the README uses, one after the other, as a reader would."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, source in {"a": "a", "b": "b", "c": "b", "bench": "a", "other": "b"}.items():
        log = (ROOT / "examples" / f"motor_{source}.csv").read_text()
        pathlib.Path(f"{name}.csv").write_text(log)
    (model,) = re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    pathlib.Path("motor.toml").write_text(model)
    lines = re.findall(r"^(sysid .*?)(?:  .*)?$", text, re.MULTILINE)
    for line in lines:
        if "--columns" in line:
            # The column that this line names has a name that says nothing.
            named = pathlib.Path("bench.csv").read_text().splitlines()
            header = re.sub(r"speed \[.*?\]", "m1vel", named[0])
            pathlib.Path("bench.csv").write_text("\n".join([header, *named[1:]]))
        done = CliRunner().invoke(app, shlex.split(line)[1:])
        assert done.exit_code == 0, f"{line}: {done.output}"
        if "--columns" in line:
            pathlib.Path("bench.csv").write_text((ROOT / "examples" / "motor_a.csv").read_text())
