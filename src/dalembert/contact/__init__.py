"""Contact of bodies: detection, and the solution of a step."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "exclude_overlaps":
        from dalembert.contact.overlaps import exclude_overlaps

        return exclude_overlaps
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
