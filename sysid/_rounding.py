"""Numbers as a reader wants them: as many digits as their error leaves."""

import math


def rounded(value: float, error: float | None) -> tuple[str, str]:
    """Value and error as text, to the second digit of the error; four digits of the value where there is no error."""
    if error is None or not math.isfinite(error) or error <= 0 or not math.isfinite(value):
        return f"{value:.4g}", "?"
    last = math.floor(math.log10(error)) - 1
    size = math.floor(math.log10(max(abs(value), error)))
    if -4 <= size < 6 and last > -10:
        places = max(-last, 0)
        return f"{value:.{places}f}", f"{error:.{places}f}"
    return f"{value:.{max(size - last, 0)}e}", f"{error:.1e}"


def told(value: float, error: float | None, flag: str) -> tuple[str, str]:
    """Value and error as a table shows them: a value that the logs do not fix is one digit in parentheses."""
    if error is None and flag in ("open", "not excited"):
        return f"({value:.1g})", "?"
    return rounded(value, error)


def interval(ends: tuple[float, float] | None, error: float | None) -> str:
    """`"low to high"` to the digits of the error, or `"not known"`."""
    if ends is None:
        return "not known"
    wide = error is None or (max(map(abs, ends)) > 100 * error and ends[1] - ends[0] > 100 * error)
    low, high = (short(end) if wide else rounded(end, error)[0] for end in ends)
    return f"{low} to {high}"


def short(value: float | None, digits: int = 3) -> str:
    """A number to a few digits, or `"-"` for none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"
