"""What polars says of a damaged file, in one short line."""

import contextlib
from collections.abc import Iterator

from sysid._errors import LogError

_LONGEST = 160


@contextlib.contextmanager
def told(name: str, kind: str) -> Iterator[None]:
    """Errors of polars inside the block become `LogError`: the file `name` is not readable as `kind`.

    A panic of its compiled part, which is no `Exception`, is one of them.
    """
    import polars as pl

    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or ["the file is damaged"])[0][:_LONGEST]
        raise LogError(f"{name}: not readable as {kind}: {reason}") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise LogError(f"{name}: not readable as {kind}: the file is damaged") from None
