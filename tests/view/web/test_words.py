"""Names in the panels of pages."""

import html

import pytest

from dalembert.view.web.words import plain

NAMES = [
    "<iframe srcdoc='x'>",
    "![i](http://a.example/b.png)",
    "<b>bold</b>",
    "`code` *a* _b_ # | \\",
    "1. list",
    "- a\n- b",
    "&amp; ü",
    "rod 1",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_itself_and_nothing_of_it_is_markup(name):
    written = plain(name)
    assert html.unescape(written) == " ".join(name.split())
    assert not set("<>\"'`*_[]()!\\|\n.-") & set(written)
