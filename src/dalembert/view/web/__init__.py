"""Machines in a web browser: a page of this computer that shows a run while it happens (`live`), or again (`replay`)."""
