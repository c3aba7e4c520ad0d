"""The errors that a user may meet: one line that says what, where and what to do."""

_LONGEST = 1500


class _OneLineError(ValueError):
    """An error of one line; what a file brings into it may be long, and is then left out in the middle."""

    def __init__(self, message: str) -> None:
        line = " ".join(message.split()) if "\n" in message else message
        kept = _LONGEST // 2
        super().__init__(line if len(line) <= _LONGEST else f"{line[:kept]} ... {line[-kept:]}")


class LogError(_OneLineError):
    """A log cannot be read or used; the one-line message says what, where and what to do."""


class ModelError(_OneLineError):
    """A model, a parameter name or an option of a fit is wrong; the one-line message says what, where, what to do."""
