"""What serial monitors and boards print around numbers, taken away: prompts, arrows, labels in every row, words."""

import re
from typing import Any

from sysid._dialect import Dialect, cells_of, usual_delimiter
from sysid._finding import Finding
from sysid._numbers import is_clock, is_missing, is_number
from sysid._text import Text

_LAST = 20
_MOST = 0.8
_PROMPT = re.compile(rb"(?m)^[ \t]*>+[ \t]*(?=[-+.\d])")
_ARROW = re.compile(rb"(?m)^(\d\d:\d\d:\d\d[.,]\d+)[ \t]*->[ \t]*")
_LABELLED = re.compile(
    rb"(?:^|[,;\t ])[ \t]*([A-Za-z_][\w ./]{0,40}?(?:\[[^\]\n]{0,40}\])?)[ \t]*[:=][ \t]*(?=[-+.\dn])"
)
_WORDS = re.compile(rb"\n[ \t]*[A-Za-z>!*<(\[][^\n]*")


def plain_rows(data: Any, head: str) -> tuple[Any, str, list[Finding]]:
    """The text and its head without prompts before the rows, arrows behind the clock and labels before the values.

    **Arguments:**

    - `data`: bytes of the whole text; changed copies are made only where there is something to take away.
    - `head`: its first lines.
    """
    findings: list[Finding] = []
    for pattern, change, words in (
        (_PROMPT, _without_prompts, "the rows begin with the prompt '>'"),
        (_ARROW, _without_arrows, "the rows begin with the clock of a serial monitor and '->'"),
        (_LABELLED, _without_labels, "every value stands behind its label"),
    ):
        lines = [line.encode() for line in head.splitlines() if line.strip()][-_LAST:]
        if not lines or sum(pattern.search(line) is not None for line in lines) < _MOST * len(lines):
            continue
        changed = change(bytes(data), lines)
        if changed is not None:
            data, head = changed, changed[: 1 << 16].decode("utf-8-sig", errors="replace")
            head = head if len(changed) <= 1 << 16 else head[: head.rfind("\n") + 1]
            findings.append(Finding.of_log("row_dressing", words, action="taken away"))
    return data, head, findings


def _without_prompts(data: bytes, lines: list[bytes]) -> bytes:
    del lines
    return _PROMPT.sub(b"", data)


def _without_arrows(data: bytes, lines: list[bytes]) -> bytes:
    mark = usual_delimiter([_ARROW.sub(b"", line).decode("utf-8", "replace") for line in lines]).encode()
    # The title row carries a clock too, of no use as a title.
    titled = re.sub(rb"(?m)^\d\d:\d\d:\d\d[.,]\d+[ \t]*->[ \t]*(?=[A-Za-z])", b"clock" + mark, data)
    return _ARROW.sub(rb"\1" + mark.replace(b"\\", b"\\\\"), titled)


def _without_labels(data: bytes, lines: list[bytes]) -> bytes | None:
    whole = [line for line in lines if _LABELLED.search(line)]
    labels = [found.strip() for found in _LABELLED.findall(whole[-1])]
    alike = sum([found.strip() for found in _LABELLED.findall(line)] == labels for line in whole)
    if len(labels) < 2 or alike < _MOST * len(whole) or len(set(labels)) < len(labels):
        return None
    row = re.compile(
        rb"(?m)^[ \t]*"
        + rb"[,;\t ]+".join(re.escape(label) + rb"[ \t]*[:=][ \t]*([^\s,;]+)" for label in labels)
        + rb"[ \t,;]*(?=\r?$)"
    )
    first = row.search(data)
    if first is None:
        return None
    values = row.sub(lambda found: b"\t".join(found.groups()), data)
    return values[: first.start()] + b"\t".join(labels) + b"\n" + values[first.start() :]


def without_words(text: Text, dialect: Dialect) -> tuple[Text, list[Finding]]:
    """The rows without lines that hold words only, such as prompts and boot banners between them."""
    first = dialect.sample[0][0]
    if not (is_number(first, dialect.decimal) or is_clock(first)):
        return text, []
    kept: list[tuple[int, int]] = []
    rows: list[str] = []
    for found in _WORDS.finditer(text.body):
        line = found[0].decode("utf-8", "replace").strip()
        cells = cells_of(line, dialect.delimiter)
        told = any(is_number(cell, dialect.decimal) or is_clock(cell) or is_missing(cell) for cell in cells)
        if told and (dialect.delimiter != " " or len(cells) == len(dialect.sample[0])):
            continue
        kept.append(found.span())
        rows.append(line)
    if not kept:
        return text, []
    body = bytearray(text.body)
    for begin, end in reversed(kept):
        del body[begin:end]
    message = f"{len(rows)} lines between the rows hold words only, such as '{rows[0][:40]}'"
    finding = Finding("words_between", f"{message}: dropped", action="dropped", count=len(rows), severity="warning")
    return Text(bytes(body), 0, len(body)), [finding]
