"""Who is let in, and what is listened to."""

import gc
import http.client
import sys

import msgspec
import pytest
import viser
import websockets.exceptions
from websockets.sync.client import connect

import dalembert as dal
from dalembert.view.web.guard import Guard, readable
from dalembert.view.web.page import Page, free_port, is_home

PROTOCOL = [f"viser-v{viser.__version__}"]


@pytest.fixture
def page():
    made = Page("test", port=0)
    yield made
    made.close()


@pytest.fixture
def locked(monkeypatch):
    """A page as for other computers, on an address that none of them reaches."""
    monkeypatch.setattr("dalembert.view.web.page.is_home", lambda host: False)
    made = Page("test", port=0)
    yield made
    made.close()


def get(page, path="/", **headers):
    link = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
    link.request("GET", path, headers=headers)
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer


def socket(page, **headers):
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return connect(f"ws://127.0.0.1:{page.port}/", subprotocols=PROTOCOL, additional_headers=more, open_timeout=20, max_size=None)


def test_a_page_is_for_this_computer_alone_unless_a_host_is_given(page):
    assert page.server.get_host() == "127.0.0.1" and page.token == "" and page.url == f"http://127.0.0.1:{page.port}/"
    assert get(page).status == 200


def test_a_name_of_the_web_that_points_here_is_refused(page):
    assert get(page, Host="evil.example:80").status == 403
    assert get(page, Host=f"localhost:{page.port}").status == 200


def test_a_page_of_another_site_cannot_open_the_socket(page):
    with pytest.raises(websockets.exceptions.InvalidStatus) as found:
        socket(page, Origin="http://evil.example")
    assert found.value.response.status_code == 403
    socket(page, Origin=f"http://127.0.0.1:{page.port}").close()


def test_another_host_needs_the_token(locked):
    assert len(locked.token) >= 20 and locked.url.endswith(f"?token={locked.token}")
    assert get(locked).status == 403
    assert get(locked, "/?token=wrong").status == 403
    with pytest.raises(websockets.exceptions.InvalidStatus):
        socket(locked)


def test_the_token_is_shown_once_and_then_kept_as_a_cookie(locked):
    answer = get(locked, f"/?token={locked.token}")
    assert answer.status == 303 and answer.headers["Location"] == "/"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    pair = cookie.split(";")[0]
    assert get(locked, Cookie=pair).status == 200
    assert get(locked, Cookie=pair[:-1] + "!").status == 403
    socket(locked, Cookie=pair).close()


def test_nobody_can_ask_for_a_public_address(page):
    handlers = page.server._websock_server._incoming_handlers
    assert viser._messages.ShareUrlRequest not in handlers


@pytest.mark.parametrize("raw", ["words", b"", b"\x00\xff\x13", b"\x93\x01\x02\x03", b"\x81\xa4type\xa4Nope", b"x" * (1 << 21)])
def test_what_is_no_message_is_not_read(raw):
    assert not readable(raw)


def test_after_malformed_messages_the_connection_is_still_there(page, until):
    heard = []
    page.server.gui.add_button("b").on_click(lambda _: heard.append(1))
    with socket(page) as link:
        for raw in ("words", b"\x00\xff\x13", b"\x81\xa4type\xa4Nope"):
            link.send(raw)
        until(lambda: len(page.server._websock_server._client_state_from_id) == 1)
        link.ping().wait(20)
        assert len(page.server._websock_server._client_state_from_id) == 1


def test_a_busy_port_is_left_alone(page):
    second = Page("second", port=page.port)
    try:
        assert second.port != page.port and second.moved and not page.moved
        assert get(second).status == get(page).status == 200
    finally:
        second.close()


@pytest.mark.parametrize("port", [-1, 70000, "8080", 3.5, True])
def test_what_is_no_port_is_refused(port):
    with pytest.raises(dal.OptionError, match="expected a whole number from 0"):
        free_port("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_addresses_of_other_computers_are_refused(host):
    with pytest.raises(dal.OptionError, match="expected an address of this computer"):
        free_port(host, 8080)


def test_home_is_this_computer():
    assert all(map(is_home, ("localhost", "127.0.0.1", "127.8.9.1", "::1")))
    assert not any(map(is_home, ("0.0.0.0", "::", "10.0.0.3", "example.org")))


def test_closing_twice_is_closing_once_and_frees_the_port(page):
    page.close()
    page.close()
    assert page.closed and free_port("127.0.0.1", page.port) == page.port


def test_a_guard_that_was_not_asked_refuses_to_serve(monkeypatch):
    from dalembert.view.web import guard

    with pytest.raises(dal.OptionError, match="cannot be guarded"), guard.guarding(Guard()):
        pass


def test_without_viser_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(dal.OptionError, match=r"pip install \"dalembert\[view\]\""):
        Page("test", port=0)


def test_values_of_another_kind_are_not_heard(page, until, capfd, caplog):
    gui = page.server.gui
    slider, box, word = gui.add_slider("s", 0.0, 1.0, 0.1, 0.5), gui.add_checkbox("c", True), gui.add_dropdown("d", ("a", "b"))
    with socket(page) as link:
        for handle in (slider, box, word):
            for value in (None, [1], {"a": 1}, b"\0" * 10, "x" if handle is not word else 3):
                message = {"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": {"value": value}}
                link.send(msgspec.msgpack.encode(message))
        link.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": slider._impl.uuid, "updates": {"value": 1}}))
        until(lambda: slider.value == 1.0)
    assert box.value is True and word.value == "a"
    gc.collect()  # tasks that failed tell of it when they are collected
    assert "Traceback" not in capfd.readouterr().err and "exception" not in caplog.text
