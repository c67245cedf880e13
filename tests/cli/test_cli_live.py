"""`dalembert live` and `dalembert view`: pages of a new process."""

import re
import signal
import subprocess
import sys
import threading
import urllib.request

import pytest

import dalembert as dal
from dalembert import scenes
from dalembert.cli._shell import serve


class Command:
    """A command in a process of its own, and the lines that it prints."""

    def __init__(self, *args, cwd):
        words = [sys.executable, "-m", "dalembert", *map(str, args)]
        self.process = subprocess.Popen(
            words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a suite in the background ignores Ctrl-C, and so would this
        )  # fmt: skip
        self.lines, self._more = [], threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._more:
                self.lines.append(line)
                self._more.notify_all()
        self.process.wait()
        with self._more:
            self._more.notify_all()

    def line(self, pattern, seconds=120):
        """The first line that fits."""
        found = []

        def there():
            found[:] = [line for line in self.lines if re.search(pattern, line)]
            return found or self.process.poll() is not None

        with self._more:
            assert self._more.wait_for(there, seconds) and found, "".join(self.lines)
        return found[0]

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        self.reader.join(10)
        return code


@pytest.fixture
def start(tmp_path):
    made = []

    def run(*args):
        made.append(Command(*args, cwd=tmp_path))
        return made[-1]

    yield run
    for command in made:
        if command.process.poll() is None:
            command.process.kill()
            command.process.wait(30)


def address(command):
    return re.search(r"http://\S+", command.line("http://")).group()


def test_live_serves_a_page_until_ctrl_c_and_a_second_one_picks_another_port(start):
    first = start("live", "free-body", "--no-browser", "--port", 0)
    url = address(first)
    assert urllib.request.urlopen(url, timeout=30).status == 200
    port = int(url.rstrip("/").rpartition(":")[2])
    second = start("live", "free-body", "--no-browser", "--port", port)
    assert f"port {port} is busy" in second.line("busy")
    assert address(second) != url
    assert urllib.request.urlopen(address(second), timeout=30).status == 200
    assert second.interrupt() == 0 and first.interrupt() == 0
    assert "closed\n" in first.lines and not any("viser" in line or "Traceback" in line for line in first.lines + second.lines)


def test_view_serves_saved_runs(start, tmp_path):
    traj = scenes.find("free-body").simulate(t_end=1.0)
    for name in ("a.h5", "b.h5"):
        traj.save(tmp_path / name)
    command = start("view", "a.h5", "b.h5", "--no-browser", "--port", 0)
    assert urllib.request.urlopen(address(command), timeout=30).status == 200
    assert command.interrupt() == 0


def test_ctrl_c_before_the_page_is_looked_at_closes_it_too(monkeypatch, capsys):
    """As soon as the address is printed somebody may have seen enough, also while a browser is being started."""
    closed = []

    class Page:
        moved, port, asked, url = False, 1, 1, "http://home:1/"
        page = property(lambda self: self)

        def wait(self):
            raise AssertionError("it was not waited for")

        def close(self):
            closed.append(True)

    def interrupted(url):
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", interrupted)
    serve(Page(), browser=True)
    assert closed == [True] and capsys.readouterr().out.splitlines()[-1] == "closed"


def test_what_cannot_be_shown_is_one_sentence(call, tmp_path):
    assert "no bodies" in call("live", "oscillator", "--no-browser", code=2).stderr
    assert "did you mean" in call("live", "pyramd", "--no-browser", code=2).stderr
    assert "expected a whole number from 0" in call("live", "free-body", "--no-browser", "--port", 70000, code=2).stderr
    assert "speed" in call("live", "free-body", "--no-browser", "--speed", 0, code=2).stderr
    dal.simulate(scenes.find("oscillator").model(), h=0.1, t_end=1.0, q0=[1.0]).save(tmp_path / "o.h5")
    assert "no bodies" in call("view", "o.h5", "--no-browser", code=2).stderr
