"""Tests of the pages; a package, so that they share `conftest`."""
