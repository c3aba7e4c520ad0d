"""Reading a log from a file of any known format."""

import os
import pathlib
from collections.abc import Callable, Mapping, Sequence

from sysid._assemble import assemble
from sysid._errors import LogError
from sysid._log import Log
from sysid._log_path import refuse_no_log
from sysid._options import Options, listed, parse_columns
from sysid._table import Table

_Reader = Callable[[pathlib.Path, Options], Table]


def read_log(
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | str | None = None,
    time_unit: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    flip: Sequence[str] | str = (),
    keep: Sequence[str] | str = (),
    hold: Sequence[str] | str = (),
    limits: Mapping[str, float] | None = None,
    counts_per_turn: float | None = None,
    gear: float | None = None,
    joint: int | str | None = None,
    gap: float | None = None,
    rate: float | None = None,
    name: str | None = None,
) -> Log:
    """Reads a bench log, in SI units, with every measurement marked usable or not. The file is not modified.

    **Arguments:**

    - `path`: a text table such as CSV, a BAM recording (`.json`), either of a pair of SAGE files, Parquet, MAT or MCAP.
    - `columns`: per channel, or `"time"`, the source column, `"name"` or `"name[unit]"`; or all of them in one text,
      `"channel=column[unit],..."`. Channels that are not named are found by the words of the headers. A unit may carry
      a factor: `"20 A/V"` for a shunt of 0.05 ohm on an oscilloscope, `"1/255"` for a duty of eight bits.
    - `time_unit`: of the time stamps: `"s"`, `"ms"`, `"us"`, `"ns"`.
    - `delimiter`, `decimal`: one character each; found from the file by default.
    - `flip`: channels to read with the opposite sign.
    - `keep`: codes of findings on which nothing is to be done: `wrapped_angle`, `held_samples`, `clipped`,
      `unsigned_current`, `unsigned_torque`, `current_sign`, `position_unrelated`.
    - `hold`: input channels whose missing values are those of the row before.
    - `limits`: per channel, the largest magnitude that its sensor can show, in the SI unit.
    - `counts_per_turn`: encoder counts of one turn, for columns in counts.
    - `gear`: position and velocity are those of the motor, and are divided by this ratio.
    - `joint`: number or name of the joint, for files that hold several.
    - `gap`: how many usual steps make a gap; 5 by default.
    - `rate`: rows per second, for files without time stamps; stamps win over it.
    - `name`: of the log; the file's name without its ending by default.

    **Raises:** `LogError`, in one line, when the file is missing, empty or no log, or when something is ambiguous.
    """
    file = pathlib.Path(path)
    refuse_no_log(file)
    try:
        options = Options(
            columns=parse_columns(columns) if isinstance(columns, str) else dict(columns or {}),
            time_unit=time_unit,
            delimiter=delimiter,
            decimal=decimal,
            flip=listed(flip),
            keep=listed(keep),
            hold=listed(hold),
            limits=dict(limits or {}),
            counts_per_turn=counts_per_turn,
            gear=gear,
            joint=joint,
            gap=gap,
            rate=rate,
        )
        table = _reader(file)(file, options)
    except OSError as error:
        raise LogError(f"{file}: cannot be read: {error.strerror}") from None
    return assemble(table, options, name or file.stem)


def _reader(path: pathlib.Path) -> _Reader:
    """The reader of the file's format, by its ending or its first bytes."""
    ending = path.suffix.lower()
    with path.open("rb") as file:
        start = file.read(512)
    if ending == ".json" or start.lstrip()[:1] == b"{":
        from sysid._read_json import read_json

        return read_json
    if ending == ".mat" or start.startswith((b"MATLAB 5.0", b"MATLAB 7.3")):
        from sysid._read_mat import read_mat

        return read_mat
    if ending in (".parquet", ".pq") or start.startswith(b"PAR1"):
        from sysid._read_parquet import read_parquet

        return read_parquet
    if ending == ".mcap" or start.startswith(b"\x89MCAP0\r\n"):
        from sysid._read_mcap import read_mcap

        return read_mcap
    if start.startswith(b"type,timestamp,positions"):
        from sysid._read_sage import read_sage

        return read_sage
    from sysid._read_csv import read_csv

    return read_csv
