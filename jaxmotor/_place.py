"""Where in a file something was written."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Place:
    """File and row (counted from one); as text it is the start of a message, empty where there is no file."""

    file: str = ""
    row: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.row}: " if self.file else ""
