"""Code blocks of the pages: run them, compare what they print with what the page shows, or write it into the page.

    python docs/blocks.py tutorial.md ...        runs the pages and rewrites the blocks of output

A fenced block ```python is run; all blocks of a page share one namespace and one empty working directory. A block ```text that follows it
directly is its output. Words must agree; numbers agree within 5 %, or are both below 1e-9 (round-off differs between machines). After the
comment <!-- times vary --> only the words count.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FENCE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n(?P<loose><!-- times vary -->\n)?(?:\n)?```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])")
ROUND_OFF = 1e-9


@dataclass(frozen=True)
class Block:
    """A piece of Python, the output that the page shows below it (None: nothing is shown), and whether its numbers count."""

    page: str
    line: int
    code: str
    output: str | None
    loose: bool
    span: tuple[int, int]


def blocks(path: Path) -> list[Block]:
    """All Python blocks of a page."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(
            path.name,
            text.count("\n", 0, found.start("code")) + 1,
            found["code"],
            found["output"],
            found["loose"] is not None,
            found.span("output"),
        )
        for found in FENCE.finditer(text)
    ]


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """An empty working directory."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run(path: Path) -> list[tuple[Block, str]]:
    """Run a page; each block with what it printed."""
    names: dict[str, Any] = {"__name__": path.stem}
    done = []
    with elsewhere():
        for block in blocks(path):
            printed = io.StringIO()
            source = compile("\n" * (block.line - 1) + block.code, f"<{block.page}>", "exec", dont_inherit=True)
            with contextlib.redirect_stdout(printed):
                exec(source, names)
            done.append((block, printed.getvalue()))
    return done


def differs(block: Block, printed: str) -> str:
    """'' if the page shows what the block printed, else where they part."""
    shown = block.output if block.output is not None else ""
    words, new = NUMBER.sub("#", shown).split(), NUMBER.sub("#", printed).split()
    where = f"{block.page}, line {block.line}"
    if words != new:
        return f"{where}: the page shows\n{shown}\nbut the code printed\n{printed}"
    if block.loose:
        return ""
    for old, value in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        a, b = float(old), float(value)
        if abs(a - b) > 0.05 * max(abs(a), abs(b)) and max(abs(a), abs(b)) > ROUND_OFF:
            return f"{where}: the page shows {old}, the code printed {value}"
    return ""


def rewrite(path: Path) -> None:
    """Put what the blocks print into the page."""
    text = path.read_text(encoding="utf-8")
    for block, printed in reversed(run(path)):
        if block.output is None:
            if printed:
                raise SystemExit(f"{block.page}, line {block.line}: prints, but the page has no block of output for it:\n{printed}")
            continue
        start, end = block.span
        text = text[:start] + "\n".join(line.rstrip() for line in printed.splitlines()) + "\n" + text[end:]
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(HERE / name)
