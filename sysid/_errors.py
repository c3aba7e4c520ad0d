"""The one error a log raises."""


class LogError(ValueError):
    """A log cannot be read or used; the one-line message says what, where and what to do."""


class ModelError(ValueError):
    """A model, a parameter name or an option of a fit is wrong; the one-line message says what, where, what to do."""
