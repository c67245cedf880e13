"""The live page under load: 105 boxes at 60 pictures per second, and ten clients for minutes.

    python benchmarks/viewer.py [--minutes 5] [--clients 10]        wants an idle machine

Clients speak viser's protocol from a process of their own and draw nothing. Boxes are kicked twice a second, so that there is something to
show. Printed, first with one client, then with all: pictures per second, CPU of the engine's thread and of everything else (painter and
server) in cores, pace against real time, memory (RSS). The exit code is 1 if the viewer takes a core or more with one client, shows fewer
than 55 pictures per second, or memory grows by more than 16 MB after the first tenth of the time with all clients.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
import psutil

import dalembert as dal
from dalembert.scenes import find

CLIENTS = """
import sys, threading
import msgspec, viser
from viser._messages import ViewerCameraMessage
from websockets.sync.client import connect

look = ViewerCameraMessage((1, 0, 0, 0), (3, 3, 3), 1.0, 0.1, 100.0, 600, 800, (0, 0, 0), (0, 0, 1))

def listen():
    with connect(sys.argv[1], subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as link:
        link.send(msgspec.msgpack.encode(look.as_serializable_dict()))  # a client is one that looks
        for _ in link:
            pass

for _ in range(int(sys.argv[2])):
    threading.Thread(target=listen, daemon=True).start()
sys.stdin.read()
"""
GROWTH = 16e6  # bytes
LEAST, MOST = 55.0, 1.0  # pictures per second; cores


def seconds_of(live: Any, process: psutil.Process) -> tuple[float, float]:
    """CPU seconds of the engine's thread and of all others."""
    times = {t.id: t.user_time + t.system_time for t in process.threads()}
    engine = times.get(live.driver.thread.native_id, 0.0)
    return engine, sum(times.values()) - engine


def watched(live: Any, seconds: float, rng: np.random.Generator) -> dict[str, float]:
    """Kick now and then for so long, and measure."""
    process, names = psutil.Process(), [b.name for b in live.model.bodies]
    before, pictures, t, began = seconds_of(live, process), live._pictures, live.driver.snapshot.t, time.perf_counter()
    memory: list[int] = []
    while time.perf_counter() - began < seconds:
        live.driver.kick(str(rng.choice(names)), 0.3 * rng.normal(size=3))
        time.sleep(0.5)
        memory.append(process.memory_info().rss)
    took, after = time.perf_counter() - began, seconds_of(live, process)
    tenth = memory[len(memory) // 10]
    return {
        "pictures": (live._pictures - pictures) / took, "engine": (after[0] - before[0]) / took, "viewer": (after[1] - before[1]) / took,
        "pace": (live.driver.snapshot.t - t) / took, "memory": memory[-1] / 1e6, "growth": float(memory[-1] - tenth),
    }  # fmt: skip


def with_clients(live: Any, count: int, seconds: float, rng: np.random.Generator) -> dict[str, float]:
    """The same with so many clients."""
    given = [sys.executable, "-c", CLIENTS, live.url.replace("http", "ws"), str(count)]
    clients = subprocess.Popen(given, stdin=subprocess.PIPE, env=os.environ)
    try:
        end = time.monotonic() + 60
        while len(live.page.server.get_clients()) < count and time.monotonic() < end:
            time.sleep(0.1)
        if len(live.page.server.get_clients()) < count:
            raise SystemExit("viewer.py: the clients did not come.")
        time.sleep(2.0)
        found = watched(live, seconds, rng)
    finally:
        clients.kill()
        clients.wait()
    row = "{pictures:5.1f} pictures/s, engine {engine:.2f}, viewer {viewer:.2f} cores, pace {pace:.2f}, {memory:.0f} MB".format(**found)
    print(f"  {count:2d} clients, {seconds:.0f} s: {row}, grew by {found['growth'] / 1e6:.1f} MB")
    return found


def main() -> int:
    """Print the table; 1 where a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--clients", type=int, default=10)
    given, rng = parser.parse_args(), np.random.default_rng(0)
    scene = find("pyramid")
    sim = dal.Simulation(scene.model(), "spook", h=1 / 60, keep=0)
    live = sim.view(port=0)
    try:
        print(f"{len(sim.model.bodies)} boxes, h = 1/60 s")
        one, many = with_clients(live, 1, 30.0, rng), with_clients(live, given.clients, 60.0 * given.minutes, rng)
    finally:
        live.close()
    met = {
        f"viewer {one['viewer']:.2f} cores < {MOST:g}": one["viewer"] < MOST,
        f"{one['pictures']:.1f} pictures per second >= {LEAST:g}": one["pictures"] >= LEAST,
        f"memory grew by {many['growth'] / 1e6:.1f} MB <= {GROWTH / 1e6:g}": many["growth"] <= GROWTH,
    }
    for text, ok in met.items():
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return int(not all(met.values()))


if __name__ == "__main__":
    sys.exit(main())
