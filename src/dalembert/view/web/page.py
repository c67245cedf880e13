"""`Page`: a server of this computer with a scene and controls, for browsers.

It listens on 127.0.0.1 unless another host is asked for; then who opens it must show a token (guard.py). A port that is busy is left
alone, and the next free one is taken.
"""

from __future__ import annotations

import contextlib
import errno
import io
import ipaddress
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import Any

from dalembert.errors import OptionError
from dalembert.view.web.guard import Guard, guarding, heed_values

HOST, PORT = "127.0.0.1", 8080
TRIES = 100  # ports


class Page:
    """server: viser's; url: what a browser opens, with the token if there is one; port: the one it has; asked: the one it was to have."""

    def __init__(self, title: str, host: str = HOST, port: int = PORT):
        viser = _viser()
        self.host, self.asked, self.title = host, port, title
        free = free_port(host, port)
        self.token = "" if is_home(host) else secrets.token_urlsafe(16)
        with _quiet(), guarding(Guard(self.token)):
            self.server: Any = viser.ViserServer(host=host, port=free, label=title, verbose=False)
        self._close_tunnels(viser)
        heed_values(self.server)
        self.port = int(self.server.get_port())
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large", brand_color=(74, 134, 197))
        self._closed = threading.Event()

    def _close_tunnels(self, viser: Any) -> None:
        """A page may not ask that it be shown to the whole world."""
        for message in (viser._messages.ShareUrlRequest, viser._messages.ShareUrlDisconnect):
            self.server._websock_server.unregister_handler(message)

    @property
    def url(self) -> str:
        """What a browser opens."""
        name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(self.host, self.host)
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @property
    def moved(self) -> bool:
        """Whether the port that was asked for was busy."""
        return self.asked not in (0, self.port)

    @property
    def closed(self) -> bool:
        """Whether the server has stopped."""
        return self._closed.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Until the page is closed; True if it is."""
        return self._closed.wait(seconds)

    def close(self) -> None:
        """Stop the server; twice is once."""
        if self._closed.is_set():
            return
        self._closed.set()
        with _quiet():
            self.server.stop()


def is_home(host: str) -> bool:
    """Whether nobody but this computer reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_port(host: str, port: Any) -> int:
    """The port, or the next one that nobody listens on."""
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port <= 65535:
        raise OptionError(f"port = {port!r}; expected a whole number from 0 (any) to 65535.")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise OptionError(f"host = {host!r}: {error}; expected an address of this computer, 127.0.0.1 or 0.0.0.0.") from None
    for candidate in range(port, min(port + TRIES, 65536)):
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((address[0], candidate, *address[2:]))
                return candidate
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise OptionError(
                        f"{host}:{candidate}: {error.strerror}; expected an address of this computer, a port > 1023."
                    ) from None
    raise OptionError(f"ports {port} ... {candidate} of {host} are all busy; give another one.")


def _viser() -> Any:
    try:
        import viser
    except ImportError:
        raise OptionError(
            'view needs viser, which is not installed: pip install "dalembert[view]"; traj.animate("run.gif") does not.'
        ) from None
    return viser


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The server of viser tells of itself on the standard output."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
