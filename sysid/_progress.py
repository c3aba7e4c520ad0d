"""What a user sees while a fit runs."""

import contextlib
import sys
from collections.abc import Callable, Iterator

Report = Callable[[str, int, float], None]


@contextlib.contextmanager
def shown() -> Iterator[Report]:
    """A moving line on a terminal, one plain line per leg of the walk elsewhere; both on standard error."""
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("compiling", total=None)

        def report(words: str, iteration: int, cost: float) -> None:
            progress.update(task, description=f"{words}, iteration {iteration + 1}, cost {cost:.6g}")

        yield report


def _plain_lines() -> Report:
    last: list[str] = []

    def report(words: str, iteration: int, cost: float) -> None:
        if not last or last[0] != words:
            last[:] = [words]
            print(f"{words}: cost {cost:.6g} after iteration {iteration + 1}", file=sys.stderr, flush=True)

    return report
