"""Who may talk to a page, and what is listened to.

    at home (127.0.0.1)     whoever names this computer as `Host`: a page of the web that points its own name here is refused
    elsewhere (--host)      who shows the token: once in the address, ?token=..., then as a cookie
    both                    a web socket that a page of another `Origin` opens is refused
    messages                that cannot be read, that name what does not exist, or that give a control a value of another kind, are left
                            alone; the connection stays

The server of viser has no hook for any of this, so its call of `websockets.serve` is wrapped while it starts (`guarding`).
"""

from __future__ import annotations

import hmac
import http
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dalembert.errors import OptionError

HOME = ("localhost", "127.0.0.1", "::1")
MOST_BYTES = 1 << 20  # of a message of a page
_STARTING = threading.Lock()


class Guard:
    """What a server asks before it answers. token: "" where none is needed."""

    def __init__(self, token: str = ""):
        self.token, self.took = token, False

    def refusal(self, headers: Any, path: str) -> tuple[int, dict[str, str], str] | None:
        """(status, headers, words) for a request that is not let in, or that is sent on; None: it may pass."""
        socket = headers.get("Upgrade", "").lower() == "websocket"
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if socket and origin is not None and urlsplit(origin).netloc != host:
            return 403, {}, f"pages of {origin} may not talk to this run.\n"
        if not self.token:
            named = urlsplit(f"//{host}").hostname
            return None if named in HOME else (403, {}, f"this page is called {host!r}; expected one of {', '.join(HOME)}.\n")
        given = parse_qs(urlsplit(path).query).get("token", [""])[0]
        name = f"dalembert-{urlsplit(f'//{host}').port or 80}"
        if self._fits(given):
            cookie = f"{name}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            return None if socket else (303, {"Location": "/", "Set-Cookie": cookie}, "")
        if any(self._fits(x) for x in _cookies(headers.get("Cookie", ""), name)):
            return None
        return 403, {}, "this page needs its token: open the whole address that was printed, http://.../?token=...\n"

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def requests(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        """`process_request` of a server, with the guard before it."""
        from websockets import Headers
        from websockets.http11 import Response

        def process(connection: Any, request: Any) -> Any:
            found = self.refusal(request.headers, request.path)
            if found is None:
                return inner(connection, request)
            status, headers, words = found
            body = words.encode()
            full = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), **headers}
            return Response(status, http.HTTPStatus(status).phrase, Headers(full), body)

        return process

    def handler(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        """What serves a connection, hearing only messages that can be read."""

        async def handle(connection: Any) -> None:
            receive = connection.recv

            async def recv(*args: Any, **more: Any) -> Any:
                while True:
                    raw = await receive(*args, **more)
                    if readable(raw):
                        return raw

            connection.recv = recv
            await inner(connection)

        return handle


def readable(raw: Any) -> bool:
    """Whether bytes are a message of a page, with fields of the kinds that it declares."""
    from viser import _messages

    if not isinstance(raw, bytes) or len(raw) > MOST_BYTES:
        return False
    try:
        message = _messages.Message.deserialize(raw)
    except Exception:  # whatever a stranger sends: no message
        return False
    updates = getattr(message, "updates", None)
    return updates is None or (isinstance(updates, dict) and updates.keys() <= {"value"})


def heed_values(server: Any) -> None:
    """Controls of a server hear only values of their kind; the server would cast whatever comes, and tell the terminal of each failure."""
    from viser import _messages

    gui, socket = server.gui, server._websock_server
    inner = gui._handle_gui_updates

    async def heed(client: Any, message: Any) -> None:
        handle = gui._gui_input_handle_from_uuid.get(message.uuid)
        if handle is not None and all(fits(handle._impl.value, x) for x in message.updates.values()):
            await inner(client, message)

    socket.unregister_handler(_messages.GuiUpdateMessage, inner)
    socket.register_handler(_messages.GuiUpdateMessage, heed)


def fits(value: Any, given: Any) -> bool:
    """Whether what a page gives is of the kind of the value that a control has."""
    if isinstance(value, bool | str):
        return isinstance(given, type(value))
    if isinstance(value, int | float):
        number = isinstance(given, int | float) and not isinstance(given, bool)
        return number and (isinstance(value, float) or math.isfinite(given))
    if isinstance(value, tuple):
        return isinstance(given, list | tuple) and (not value or all(fits(value[0], x) for x in given))
    return False


def _cookies(text: str, name: str) -> list[str]:
    pairs = (part.strip().partition("=") for part in text.split(";"))
    return [value for key, _, value in pairs if key == name]


@contextmanager
def guarding(guard: Guard) -> Iterator[None]:
    """While a server of viser starts: the guard is put before it. OptionError if the server came up without."""
    import websockets.asyncio.server as module

    with _STARTING:
        original: Any = module.serve

        def serve(handler: Any, *args: Any, process_request: Any = None, **more: Any) -> Any:
            guard.took = True
            return original(guard.handler(handler), *args, process_request=guard.requests(process_request), **more)

        module.serve = serve  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            module.serve = original  # type: ignore[misc]
    if not guard.took:
        raise OptionError("view: this version of viser starts its server in a way that cannot be guarded; expected viser 1.1.")
