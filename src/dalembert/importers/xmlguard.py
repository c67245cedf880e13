"""XML that comes from anywhere: no document types, no entities, bounded size, depth and number of elements.

Entity bombs, external entities and endless nesting need a document type declaration or a file beyond these limits, so both are refused
before a tree is built. The limits are far above any real robot.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any
from xml.parsers import expat

from dalembert.errors import ModelError

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 500  # MuJoCo's own parser stops there
MAX_ELEMENTS = 500_000
MAX_VALUE = 2**22  # characters of one attribute


def parse(data: bytes, owner: str) -> ET.Element:
    """The tree of a small, plain XML document; ModelError names `owner` and what is wrong."""
    if len(data) > MAX_BYTES:
        raise ModelError(f"{owner}: has {len(data)} bytes; expected at most {MAX_BYTES}.")
    _check(data, owner)
    try:
        return ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError) as problem:
        raise ModelError(f"{owner}: not well-formed XML ({problem}).") from None


def _check(data: bytes, owner: str) -> None:
    parser = expat.ParserCreate()
    seen = {"depth": 0, "elements": 0}

    def refuse(*given: Any) -> Any:
        raise ModelError(f"{owner}: declares a document type or entity; expected plain XML without <!DOCTYPE> and <!ENTITY>.")

    def start(tag: str, attributes: dict[str, str]) -> None:
        seen["depth"] += 1
        seen["elements"] += 1
        if seen["depth"] > MAX_DEPTH:
            raise ModelError(f"{owner}: elements are nested deeper than {MAX_DEPTH}, at <{tag[:50]}>.")
        if seen["elements"] > MAX_ELEMENTS:
            raise ModelError(f"{owner}: has more than {MAX_ELEMENTS} elements.")
        for name, value in attributes.items():
            if len(value) > MAX_VALUE:
                raise ModelError(f"{owner}: attribute {name[:50]!r} of <{tag[:50]}> has more than {MAX_VALUE} characters.")
            if "\0" in value:
                raise ModelError(f"{owner}: attribute {name[:50]!r} of <{tag[:50]}> holds a null character.")

    def end(tag: str) -> None:
        seen["depth"] -= 1

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as problem:
        raise ModelError(f"{owner}: not well-formed XML ({problem}).") from None
    except (ValueError, LookupError) as problem:  # an encoding that Python does not know
        if isinstance(problem, ModelError):
            raise
        raise ModelError(f"{owner}: not well-formed XML ({problem}).") from None
