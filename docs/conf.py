"""Sphinx: MyST Markdown, furo. Generated parts are written before the pages are read; nothing is fetched while building."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402

import dalembert  # noqa: E402

project = "dalembert"
author = "The dalembert developers"
copyright = "2026, The dalembert developers"
version = release = dalembert.__version__

extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_generated"]

html_theme = "furo"
html_title = f"dalembert {dalembert.__version__}"
html_copy_source = False

generate.write(HERE / "_generated")
