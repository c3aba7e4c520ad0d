"""XML from strangers: one parsed document that can say in which row an element starts.

Documents that declare a document type are refused, so no entity is ever expanded into memory or read from a file or the
network; lxml's own limits on depth and text length stay on.
"""

import re
from collections.abc import Iterator

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without stubs

from ._place import Place

_NUMBER = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)


class XmlError(ValueError):
    """A document that cannot be used: `place` says where, `reason` says why."""

    def __init__(self, place: Place, reason: str):
        super().__init__(f"{place}{reason}")
        self.place = place
        self.reason = reason


class XmlDocument:
    """A parsed document; `file` is how messages call it."""

    def __init__(self, content: str | bytes, file: str):
        # A str is already decoded, whatever encoding its declaration claims.
        encoding = "utf-8" if isinstance(content, str) else None
        parser = etree.XMLParser(
            encoding=encoding,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            dtd_validation=False,
            attribute_defaults=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        self.file = file
        data = content.encode() if isinstance(content, str) else content
        try:
            self.root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise XmlError(Place(file, error.lineno or 1), f"not well-formed XML: {error.msg}") from error
        if self.root.getroottree().docinfo.internalDTD is not None:
            raise XmlError(Place(file, 1), "a document type declaration (<!DOCTYPE ...>) is not accepted")
        self._rows = data.splitlines()

    def place(self, element: etree._Element) -> Place:
        """Where the element starts. The parser only remembers the row where its start tag *ends*."""
        end = element.sourceline or 1
        opening = f"<{etree.QName(element).localname}".encode()
        starts = (row for row in range(end, 0, -1) if opening in self._rows[row - 1 : row][0])
        return Place(self.file, next(starts, end) if element.prefix is None else end)

    def fail(self, element: etree._Element, reason: str) -> XmlError:
        """The error to raise about this element."""
        return XmlError(self.place(element), f"<{etree.QName(element).localname}>: {reason}")

    def children(self, element: etree._Element, tag: str) -> Iterator[etree._Element]:
        """The direct children of that tag."""
        return (child for child in element if child.tag == tag)

    def text(self, element: etree._Element, attribute: str) -> str:
        """A required attribute."""
        value = element.get(attribute, "").strip()
        if not value:
            raise self.fail(element, f"{attribute} is missing")
        return value

    def number(self, element: etree._Element, attribute: str) -> float:
        """A required number; it may still be infinite or not a number."""
        value = self.text(element, attribute)
        if not _NUMBER.fullmatch(value):
            raise self.fail(element, f"{attribute}={value!r} is not a number")
        return float(value)

    def positive(self, element: etree._Element, attribute: str) -> float:
        """A required number that is positive and finite."""
        value = self.number(element, attribute)
        if not 0.0 < value < float("inf"):
            raise self.fail(element, f"{attribute} must be positive and finite, not {value:g}")
        return value

    def finite(self, element: etree._Element, attribute: str) -> float:
        """A required number that is finite."""
        value = self.number(element, attribute)
        if not abs(value) < float("inf"):
            raise self.fail(element, f"{attribute} must be finite, not {value:g}")
        return value

    def loss(self, element: etree._Element, attribute: str) -> float:
        """A number that is not negative and finite; zero where it is not given."""
        value = self.number(element, attribute) if element.get(attribute) is not None else 0.0
        if not 0.0 <= value < float("inf"):
            raise self.fail(element, f"{attribute} must be finite and not negative, not {value:g}")
        return value
