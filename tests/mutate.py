"""Damage the physics, one place at a time, and count how often a fast part of the tests notices.

    python tests/mutate.py --count 200 --out mutants.json    all of it, in hours of one core
    python tests/mutate.py --count 200 --out mutants.json --seconds 500    go on for so long; call again for the rest
    python tests/mutate.py --sound                                   the same tests on the tree as it is must pass
    python tests/mutate.py --show mutants.json                       what was killed, and the survivors

Mutants are drawn by --seed from all that the operators below make of the files in `TESTS`. Each is tried in a copy of
the tree, in a fork of a process that has imported JAX and pytest, by the tests named for its file and the contract of
its classes, until one of them fails. A mutant that takes more than `SECONDS` of CPU time counts as killed.
"""

import argparse
import ast
import contextlib
import dataclasses
import difflib
import io
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]

SECONDS = 150

TESTS = {
    "_actuator": "full_actuator supply limits delay bench",
    "_actuator_bank": "group",
    "_backlash": "backlash",
    "_battery": "battery",
    "_bench": "bench rollout",
    "_bristle_motion": "lugre passivity",
    "_bus": "battery group",
    "_bus_balance": "battery",
    "_cogging": "full_actuator neutral mujoco",
    "_controller": "controllers battery supply bench mujoco",
    "_current_limit": "limits",
    "_current_rate": "winding limits",
    "_dahl": "lugre passivity",
    "_decay": "lugre",
    "_delay": "delay",
    "_derated_current_limit": "limits two_node_thermal",
    "_drag": "bench passivity mujoco",
    "_dry_friction": "bench backlash",
    "_enforcement": "group",
    "_exponential": "exponential flow winding",
    "_flow": "flow bench",
    "_gear": "bench lossy_gear full_actuator backlash",
    "_group": "group battery",
    "_group_limits": "group",
    "_input": "battery rollout",
    "_integral": "controllers full_actuator mujoco",
    "_integrator": "bench lossy_gear full_actuator mujoco",
    "_lagged_sag": "battery",
    "_limits": "limits group mujoco",
    "_load": "bench load_dependent_friction lossy_gear",
    "_load_dependent_friction": "load_dependent_friction",
    "_load_friction": "load_dependent_friction",
    "_lossy_gear": "lossy_gear passivity",
    "_lugre": "lugre passivity",
    "_lumped_thermal": "lumped_thermal full_actuator mujoco",
    "_mesh": "flow lossy_gear",
    "_mjcf_voltage": "mjcf mujoco",
    "_motor": "full_actuator lumped_thermal two_node_thermal mujoco",
    "_newton_drive": "newton",
    "_passivity": "passivity lugre",
    "_position_pid": "controllers mujoco",
    "_region": "region",
    "_request": "battery supply full_actuator limits mujoco",
    "_rollout": "rollout advance",
    "_setpoint": "controllers full_actuator",
    "_slew": "controllers mujoco",
    "_stribeck": "load_dependent_friction passivity",
    "_supply": "supply battery limits",
    "_thermal": "two_node_thermal lumped_thermal",
    "_torque_law": "two_node_thermal neutral",
    "_torque_space_pid": "controllers mujoco",
    "_transmission": "group battery",
    "_two_node_thermal": "two_node_thermal",
    "_velocity_pi": "controllers mujoco",
    "_voltage_limit": "controllers mujoco",
    "_winding": "winding limits battery mujoco",
}
"""Per file of the physics the tests that are about it, those first that are most so."""

_FLIPPED = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.Lt: ("<", ">"),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<"),
    ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
_EDGED = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
_NAMED = {
    "minimum": "maximum",
    "maximum": "minimum",
    "zeros_like": "ones_like",
    "ones_like": "zeros_like",
    "sin": "cos",
    "cos": "sin",
    "all": "any",
    "any": "all",
}
_ALONE = {"abs", "square", "sqrt", "exp", "expm1", "log", "log1p", "tanh", "isfinite", "sign"}
_SCALARS = set("qpos qvel theta omega dt speed torque volts ctrl current level stiffness ratio mean_speed".split())
_SCALARS |= set("none rest first second target mass push spring rate duration acceleration budget relative".split())


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`new` in place of the characters `start` to `stop` of a file."""

    file: str
    operator: str
    start: int
    stop: int
    new: str

    def text(self, source: str) -> str:
        """The file with the change."""
        return source[: self.start] + self.new + source[self.stop :]

    def diff(self, source: str) -> str:
        """The lines that change."""
        lines = difflib.unified_diff(source.splitlines(), self.text(source).splitlines(), self.file, n=0, lineterm="")
        return "\n".join(list(lines)[2:])


class _Places:
    """Offsets of the nodes of one file."""

    def __init__(self, source: str):
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.by_line = source.splitlines()

    def at(self, line: int, column: int) -> int:
        # Columns of the syntax tree count bytes.
        return self.lines[line - 1] + len(self.by_line[line - 1].encode()[:column].decode())

    def start(self, node: ast.expr) -> int:
        return self.at(node.lineno, node.col_offset)

    def stop(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr) -> str:
        return self.source[self.start(node) : self.stop(node)]


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """Every mutant of one file, in order of the code."""
    places = _Places(source)
    for node in _expressions(ast.parse(source)):
        for operator, start, stop, new in _changes(node, places):
            yield Mutant(file, operator, start, stop, new)


def _expressions(tree: ast.Module) -> Iterator[ast.expr]:
    """What is computed inside functions: no annotations, messages, defaults, decorators or checks of arguments."""
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef) and scope.name not in ("__check_init__", "__init__"):
            for statement in scope.body:
                yield from _computed(statement)


def _computed(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.FunctionDef, ast.Raise, ast.JoinedStr, ast.Assert)):
        return  # a function inside is met as a scope of its own
    if isinstance(node, ast.expr):
        yield node
    for name, value in ast.iter_fields(node):
        if name == "annotation":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _computed(child)


def _changes(node: ast.expr, places: _Places) -> Iterator[tuple[str, int, int, str]]:
    whole = places.start(node), places.stop(node)
    if isinstance(node, ast.BinOp):
        if type(node.op) in _FLIPPED:
            yield "operator", *_between(node.left, node.right, *_FLIPPED[type(node.op)], places)
        yield "left alone", *whole, places.of(node.left)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            yield "right alone", *whole, places.of(node.right)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind = type(node.ops[0])
        for name, table in (("comparison", _FLIPPED), ("edge", _EDGED)):
            if kind in table:
                yield name, *_between(node.left, node.comparators[0], *table[kind], places)
    elif isinstance(node, ast.UnaryOp):
        yield "sign or not", *whole, places.of(node.operand)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "number", *whole, repr(node.value + 1)
        if node.value not in (0, -1):
            yield "number", *whole, repr(node.value * 2 if isinstance(node.value, float) else node.value - 1)
    elif isinstance(node, ast.Call):
        yield from _calls(node, places, whole)


def _calls(node: ast.Call, places: _Places, whole: tuple[int, int]) -> Iterator[tuple[str, int, int, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    arguments = [places.of(argument) for argument in node.args]
    if name in _NAMED and isinstance(node.func, ast.Attribute):
        end = places.stop(node.func)
        yield "function", end - len(name), end, _NAMED[name]
    elif name in _ALONE and len(arguments) == 1:
        yield "argument alone", *whole, arguments[0]
    elif name == "where" and len(arguments) == 3:
        yield "branch", *whole, arguments[1]
        yield "branch", *whole, arguments[2]
    elif len(arguments) > 1:
        # Neighbours of one type, such as an angle beside a speed: to exchange a state and params would be too easy.
        for k in range(len(arguments) - 1):
            pair = node.args[k : k + 2]
            if all(isinstance(one, ast.Name) and one.id in _SCALARS for one in pair) and pair[0].id != pair[1].id:
                start, stop = places.start(node.args[k]), places.stop(node.args[k + 1])
                between = places.source[places.stop(node.args[k]) : places.start(node.args[k + 1])]
                yield "order of arguments", start, stop, arguments[k + 1] + between + arguments[k]


def _between(left: ast.expr, right: ast.expr, old: str, new: str, places: _Places) -> tuple[int, int, str]:
    start, stop = places.stop(left), places.start(right)
    found = re.search(re.escape(old), places.source[start:stop])
    assert found is not None
    return start + found.start(), start + found.end(), new


def drawn(count: int, seed: int) -> list[Mutant]:
    """`count` mutants of all files, the same for the same seed and sources."""
    found = []
    for stem in sorted(TESTS):
        file = f"jaxmotor/{stem}.py"
        for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8")):
            with contextlib.suppress(SyntaxError):
                compile(mutant.text((ROOT / file).read_text(encoding="utf-8")), file, "exec")
                found.append(mutant)
    return random.Random(seed).sample(found, min(count, len(found)))


def _runs(file: str) -> list[list[str]]:
    """Arguments of pytest, one list after the other."""
    stem = pathlib.Path(file).stem
    own = [f"tests/jaxmotor/test_{name}.py" for name in TESTS[stem].split()]
    own = [name if (ROOT / name).exists() else name.replace("jaxmotor/", "") for name in own]
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.endswith("Params")]
    contract = ["tests/test_contract.py", "tests/test_properties.py", "-k", " or ".join(classes)]
    return [[name] for name in own] + ([contract] if classes else [])


def _attempt(tree: pathlib.Path, runs: list[list[str]], limit: int, answer) -> None:
    """In a fork: run these tests in `tree`, and send the first that fails, or nothing."""
    import pytest

    # CPU time, so that a busy machine kills nobody. The file of a mutant is newer than its bytecode, and leaves none.
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    sys.dont_write_bytecode = True
    log = tree / "output.txt"
    with log.open("w") as output, contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        for arguments in runs:
            seen = _First()
            status = pytest.main(
                ["-xq", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning", *arguments], [seen]
            )
            if status not in (0, 5):
                answer.send(seen.name or f"pytest ended with {int(status)}")
                return
    answer.send("")


class _First:
    """The first test that failed."""

    name = ""

    def pytest_runtest_logreport(self, report) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid

    def pytest_collectreport(self, report) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid


def _run(tree: pathlib.Path, runs: list[list[str]], limit: int = SECONDS) -> tuple[str, float]:
    """The first test that failed, or nothing, and the CPU time that it took [s]."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = context.Process(target=_attempt, args=(tree, runs, limit, there))
    child.start()
    there.close()
    try:
        # A mutant that waits for what never comes takes no CPU time.
        failed = here.recv() if here.poll(20 * limit) else "no end"
    except EOFError:
        failed = "no end, or a crash"
    child.kill()
    child.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return failed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _prepare(folder: pathlib.Path, programs: pathlib.Path) -> pathlib.Path:
    """A copy of the tree, and what its forks share."""
    tree = folder / "tree"
    tree.mkdir()
    for name in ("jaxmotor", "sysid", "tests", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", tree)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        os.environ.setdefault("JAXMOTOR_SHARED", str(shared))
    os.environ["JAX_PLATFORMS"] = "cpu"
    # Programs that a mutant leaves as they are need not be compiled again.
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(programs)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    # Bytecode of all files as they are, annotations executed.
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "tests/test_contract.py"]
    subprocess.run(command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, check=True, capture_output=True)
    import beartype
    import equinox
    import hypothesis
    import jax
    import mujoco
    import pytest

    del beartype, equinox, hypothesis, jax, mujoco, pytest
    return tree


def work(count: int, seed: int, out: pathlib.Path, seconds: float) -> None:
    """Try the mutants: all by the first of their test files, then those that are left by the next, and so on.

    `out` is written after each attempt; after `seconds` no other begins, and the next call goes on from there.
    """
    chosen = drawn(count, seed)
    blank = [{"tried": 0, "killed_by": "", "seconds": 0.0} for _ in chosen]
    done = json.loads(out.read_text()) if out.exists() else blank
    out.write_text(json.dumps(done, indent=1) + "\n")
    sources = {mutant.file: (ROOT / mutant.file).read_text(encoding="utf-8") for mutant in chosen}
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        tree = _prepare(pathlib.Path(folder), out.with_suffix(".programs"))
        for turn in range(max(len(_runs(file)) for file in sources)):
            for number, (mutant, entry) in enumerate(zip(chosen, done, strict=True), start=1):
                runs = _runs(mutant.file)
                if entry["tried"] != turn or entry["killed_by"] or turn >= len(runs):
                    continue
                if time.monotonic() > end:
                    return
                target = tree / mutant.file
                target.write_text(mutant.text(sources[mutant.file]), encoding="utf-8")
                failed, took = _run(tree, [runs[turn]])
                shutil.copy2(ROOT / mutant.file, target)
                entry |= {"file": mutant.file, "operator": mutant.operator, "diff": mutant.diff(sources[mutant.file])}
                entry |= {"tried": turn + 1, "of": len(runs), "killed_by": failed}
                entry["seconds"] = round(entry["seconds"] + took, 1)
                done[number - 1] = entry
                out.write_text(json.dumps(done, indent=1) + "\n")
                told = f"{mutant.file} {mutant.operator}: {failed or 'alive after'} {runs[turn][0]} {took:.1f} s"
                print(f"{number}/{len(chosen)} {told}", flush=True)


def sound(out: pathlib.Path) -> str:
    """Whether the tree passes without any change, in the same way."""
    with tempfile.TemporaryDirectory() as folder:
        tree = _prepare(pathlib.Path(folder), out.with_suffix(".programs"))
        names = {run[0] for stem in TESTS for run in _runs(f"jaxmotor/{stem}.py")}
        runs = [sorted(names), ["tests/test_properties.py"]]
        failed, took = _run(tree, runs, 3600)
        return f"without any change: {failed or 'all pass'} ({took:.0f} s)"


def show(out: pathlib.Path) -> str:
    """How many were killed, and each that was not."""
    done = json.loads(out.read_text())
    tried = [entry for entry in done if entry["killed_by"] or (entry["tried"] and entry["tried"] == entry["of"])]
    alive = [entry for entry in tried if not entry["killed_by"]]
    text = io.StringIO()
    for entry in alive:
        print(f"{entry['file']} ({entry['operator']})\n{entry['diff']}\n", file=text)
    killed, spent = len(tried) - len(alive), sum(entry["seconds"] for entry in done)
    share = 100 * killed / max(len(tried), 1)
    print(f"{killed} of {len(tried)} mutants killed ({share:.1f} %) in {spent / 60:.0f} minutes of CPU time", file=text)
    if len(tried) < len(done):
        print(f"{len(done) - len(tried)} are not yet decided: call again", file=text)
    return text.getvalue()


def main() -> None:
    """Draw, try, show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("mutants.json"))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutant after this long")
    parser.add_argument("--sound", action="store_true", help="only try the tree without any change")
    parser.add_argument("--show", type=pathlib.Path, help="only show these results")
    given = parser.parse_args()
    if given.sound:
        print(sound(given.out))
        return
    if given.show is None:
        work(given.count, given.seed, given.out, given.seconds)
    print(show(given.show or given.out))


if __name__ == "__main__":
    main()
