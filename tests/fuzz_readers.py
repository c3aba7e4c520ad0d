"""Feed every reader spoiled inputs, and count what is neither read nor refused with the error it documents.

    python tests/fuzz_readers.py --count 10000             all readers
    python tests/fuzz_readers.py --count 500 --reader csv --seed 7

An input that crashes the process, takes more than 10 s or more than 1 GB of memory, or raises anything else, fails; it
is kept in --keep.
"""

import argparse
import collections
import dataclasses
import inspect
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import fuzz_inputs as inputs

SECONDS = 10
BYTES = 1 << 30


def _log(path: pathlib.Path) -> None:
    from sysid import LogError, check, read_log

    try:
        check(read_log(path, joint=0 if "state_motor" in path.name else None)).table()
    except LogError as error:
        _one_line(error)


def _model(path: pathlib.Path) -> None:
    from sysid import ModelError, read_model

    try:
        read_model(path)
    except ModelError as error:
        _one_line(error)


def _robot(path: pathlib.Path) -> None:
    from jaxmotor import urdf

    try:
        urdf.describe(path)
    except ValueError as error:
        _worded(error)


def _dcmotor(path: pathlib.Path) -> None:
    from jaxmotor import mjcf

    lines = path.read_text(errors="replace").splitlines()
    pairs = [line.partition("=") for line in lines if "=" in line]
    known = inspect.signature(mjcf.dcmotor).parameters
    try:
        mjcf.dcmotor(**{key: value for key, _, value in pairs if key in known})
    except ValueError as error:
        _worded(error)


def _fit(path: pathlib.Path) -> None:
    from sysid import ModelError
    from sysid._export import exported
    from sysid._fit_file import read_fit

    try:
        model, _ = read_fit(path)
    except ModelError as error:
        _one_line(error)
        return
    for language in ("mjcf", "urdf", "isaaclab", "newton", "json"):
        try:
            exported(model, language, "joint", 12.0)
        except ModelError as error:
            _one_line(error)


def _worded(error: Exception) -> None:
    assert str(error).strip(), "an error without words"


def _one_line(error: Exception) -> None:
    _worded(error)
    text = str(error)
    assert len(text) < 3000, f"an error of {len(text)} characters"


@dataclasses.dataclass(frozen=True)
class Reader:
    """What is fed: sound inputs, the name of the file, and the call."""

    sound: Callable[[], list[bytes]]
    file: str
    read: Callable[[pathlib.Path], None]


READERS = {
    "csv": Reader(inputs.csv, "run.csv", _log),
    "bam": Reader(inputs.bam, "run.json", _log),
    "sage": Reader(inputs.sage, "a_state_motor.csv", _log),
    "mat": Reader(inputs.mat, "run.mat", _log),
    "hdf5": Reader(inputs.hdf5, "run.mat", _log),
    "parquet": Reader(inputs.parquet, "run.parquet", _log),
    "mcap": Reader(inputs.mcap, "run.mcap", _log),
    "toml": Reader(inputs.toml, "motor.toml", _model),
    "urdf": Reader(inputs.urdf, "robot.urdf", _robot),
    "mjcf": Reader(inputs.mjcf, "attributes.txt", _dcmotor),
    "fit": Reader(inputs.fit, "fit.json", _fit),
}


def spoiled(name: str, sound: list[bytes], seed: int, number: int) -> bytes:
    """Input `number` of a reader: the same for the same seed, on every machine."""
    dice = random.Random(f"{seed} {name} {number}")
    return inputs.spoiled(dice.choice(sound), dice)


class Hang(BaseException):
    """Not an Exception, so that no reader takes it for a broken file."""


def _ring(*_: object) -> None:
    raise Hang


def attempt(reader: Reader, path: pathlib.Path) -> str | None:
    """What went wrong with this input, in a few words; None when it was read or refused as documented."""
    before = _most_memory()
    signal.signal(signal.SIGALRM, _ring)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(path)
    except Hang:
        return f"hang of more than {SECONDS} s"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a compiled reader is no Exception
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "" if place is None else f" at {pathlib.Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
        return f"{type(error).__name__}{where}: {str(error)[:120]!r}"
    finally:
        signal.alarm(0)
    return f"more than {BYTES >> 30} GB of memory" if _most_memory() > before + BYTES else None


def _most_memory() -> int:
    """The most that this process has held so far [bytes]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def work(name: str, seed: int, start: int, stop: int, folder: pathlib.Path) -> None:
    """Feed inputs `start` to `stop`; a line per input begun or failed goes to standard output."""
    import jax

    jax.config.update("jax_enable_x64", True)
    reader = READERS[name]
    sound = reader.sound()
    if not sound:
        return
    (folder / "a_control.csv").write_text(inputs.SAGE_PARTNER)
    path = folder / reader.file
    for number in range(start, stop):
        path.write_bytes(spoiled(name, sound, seed, number))
        print(f"at {number}", flush=True)
        problem = attempt(reader, path)
        if problem is not None:
            print(f"bad {number} {problem}", flush=True)
            if "memory" in problem:
                return


def feed(name: str, seed: int, count: int) -> dict[int, str]:
    """The failures of one reader by input number; each crash of the process is one, and the rest goes on."""
    failures: dict[int, str] = {}
    start = 0
    while start < count:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--work", folder, "--reader", name, "--seed", str(seed)]
            done = subprocess.run(
                [*command, "--start", str(start), "--count", str(count)], capture_output=True, text=True, check=False
            )
        last = start - 1
        for line in done.stdout.splitlines():
            word, number, *rest = line.split(" ", 2)
            if word == "at" and number.isdigit():
                last = int(number)
            elif word == "bad" and number.isdigit():
                failures[int(number)] = rest[0] if rest else ""
        if done.returncode != 0:
            failures[last] = f"process ended with {done.returncode}: {done.stderr.strip()[-200:]}"
            if last < start:
                raise SystemExit(f"{name}: no input was fed: {done.stderr}")
        elif last < start:
            break  # a reader whose package is not installed
        start = last + 1
    return failures


def main() -> int:
    """Exit status 1 when any input failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="inputs of each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", choices=READERS, action="append")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for inputs that failed")
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        work(given.reader[0], given.seed, given.start, given.count, given.work)
        return 0
    failed = 0
    for name in given.reader or READERS:
        failures = feed(name, given.seed, given.count)
        failed += len(failures)
        print(f"{name}: {given.count} inputs, {len(failures)} failures", flush=True)
        kinds = collections.Counter(problem.split(": ", 1)[0] for problem in failures.values())
        for kind, times in kinds.most_common():
            number, problem = next((n, p) for n, p in failures.items() if p.startswith(kind))
            print(f"  {times} x {problem} (input {number})", flush=True)
        if given.keep is not None and failures:
            given.keep.mkdir(parents=True, exist_ok=True)
            sound = READERS[name].sound()
            for number in failures:
                (given.keep / f"{number}_{READERS[name].file}").write_bytes(spoiled(name, sound, given.seed, number))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
