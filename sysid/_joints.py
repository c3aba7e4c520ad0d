"""What tells the columns of several joints apart: a number or a word of their names."""

import re
from collections.abc import Sequence

_PARTS = re.compile(r"\d+|[^\W\d]+", re.UNICODE)
_PATHS = re.compile(r"[/.\[\]]+")


def labels(names: Sequence[str]) -> list[tuple[str, ...]]:
    """For each name, in lower case, the labels that its joint may be called by.

    Of names of one pattern these are the parts in which they differ: `/arm1/vel[0]` and `/arm1/vel[1]` are 0 and 1. Of
    others all parts are.
    """
    lower = [name.lower() for name in names]
    cuts = (_split_path, _split_words) if all(len(_split_path(name)) > 1 for name in lower) else (_split_words,)
    for cut in cuts:
        parts = [cut(name) for name in lower]
        if len({len(own) for own in parts}) == 1:
            differing = [place for place in range(len(parts[0])) if len({own[place] for own in parts}) > 1]
            numbered = [place for place in differing if all(own[place].isdigit() for own in parts)]
            # Ordinals differ twice: in `1st` and `2nd` the number is the label.
            differing = numbered if len(numbered) == 1 and cut is _split_words else differing
            if len(names) > 1 and len(differing) == 1:
                return [(own[differing[0]],) for own in parts]
    return [(*_split_path(name), *_split_words(name)) for name in lower]


def _split_path(name: str) -> list[str]:
    return [part for part in _PATHS.split(name) if part]


def _split_words(name: str) -> list[str]:
    return _PARTS.findall(name.replace("_", " "))
