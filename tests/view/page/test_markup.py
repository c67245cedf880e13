"""Text that cannot leave its place."""

import json
import re

import pytest

from dalembert.view.page.markup import Markup, data_block, join, table, tag, text

HOSTILE = "</script><script>x</script> <!-- & \" ' ]]>  "


def test_text_is_escaped_once():
    assert text("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#x27;"
    assert text(text("<b>")) == "&lt;b&gt;"
    assert tag("p", "<b>", tag("i", "&")) == "<p>&lt;b&gt;<i>&amp;</i></p>"


def test_attributes_are_escaped_and_named():
    assert tag("i", class_="a b", data_x='"><script>', title=None) == '<i class="a b" data-x="&quot;&gt;&lt;script&gt;"></i>'


def test_cells_and_joined_parts_are_escaped():
    assert "<b>" not in table(["<b>"], [["<b>"]])
    assert join(["<", Markup("<hr>")]) == "&lt;<hr>"


def test_data_say_the_same_and_cannot_end_their_block():
    block = data_block("scene", {"name": HOSTILE, "n": [1, 2.5]})
    inside = re.fullmatch(r'<script type="application/json" id="scene">(.*)</script>', block, flags=re.DOTALL).group(1)
    assert "<" not in inside and ">" not in inside and "&" not in inside
    assert json.loads(inside) == {"name": HOSTILE, "n": [1, 2.5]}


def test_numbers_that_javascript_cannot_read_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        data_block("scene", [float("nan")])
