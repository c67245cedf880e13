"""`dalembert list`."""

import json

import dalembert as dal
from dalembert.peers import PEERS
from dalembert.steppers.compose import COMPOSITIONS


def test_the_tables_hold_everything_that_is_registered(call):
    out = call("list").output
    names = [s.name for s in dal.steppers()] + dal.scenes.names() + list(COMPOSITIONS) + list(PEERS)
    for name in names:
        assert f" {name} " in out


def test_one_list_as_json(call):
    data = json.loads(call("list", "steppers", "--json").output)
    assert [s["name"] for s in data] == [s.name for s in dal.steppers()]
    assert {"order", "conserves", "options", "references"} <= set(data[0])
    scenes = json.loads(call("list", "scenes", "--json").output)
    assert [s["name"] for s in scenes] == dal.scenes.names()


def test_all_lists_as_json(call):
    data = json.loads(call("list", "--json").output)
    assert set(data) == {"steppers", "scenes", "compositions", "peers"}
    assert [c["name"] for c in data["compositions"]] == list(COMPOSITIONS)


def test_an_unknown_list_is_bad_usage(call):
    assert "steppers" in call("list", "stepers", code=2).stderr
