"""Names and errors in the Markdown of a panel, which the page reads as Markdown with HTML in it."""

from __future__ import annotations

import re

_MARKS = re.compile(r"[^\w ]|_")


def plain(text: object) -> str:
    """Text that shows as it is: all but letters, digits and single spaces as numbers of characters, on which neither language acts."""
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", " ".join(str(text).split()))
