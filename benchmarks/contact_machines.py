"""Times of single steps of machines with contacts, as a control loop sees them.

60 Hz: vehicle, crane, ragdoll (a scene, and one from MJCF), and ANYmal standing by PD control: median below 3 ms, worst below 10 ms.
1 kHz: a stack of five boxes hit by a ball: worst below 1 ms.

CPU time of each call of `Simulation.step`, the first ones (compilation, first contact of arrays) left out, and
without Python's garbage collector, as loops in real time run.
"""

from __future__ import annotations

import gc
import importlib.metadata
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal
from dalembert import scenes
from dalembert.contact import exclude_overlaps

DATA = Path(__file__).parents[1] / "tests" / "data" / "models"
PERCENTILES = (50, 90, 99, 100)


def of_scene(name: str) -> dal.Simulation:
    """A scene, step by step."""
    s = scenes.find(name)
    return dal.Simulation(s.model(), "spook", h=s.h, q0=s.q0, v0=s.v0, control=s.control, keep=0, **s.options)


def ragdoll() -> dal.Simulation:
    """From MJCF: hinges in series, balls, armature, friction, limits; with a budget of 6 ms per step."""
    m = dal.load_model(DATA / "ragdoll.xml")
    q = m.check_q({"left_hip_pitch": -0.5, "left_knee": 0.6, "neck_nod": 0.2})
    q[2:7] = q[2] + 0.3, np.cos(0.2), 0.6 * np.sin(0.2), 0.8 * np.sin(0.2), 0.0
    return dal.Simulation(m, "spook", h=1 / 60, q0=q, keep=0, max_time=6e-3)


def anymal() -> dal.Simulation:
    """Dropped by some centimetres onto its feet, held by position motors."""
    share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    m = dal.load_model(share / "example-robot-data/robots/anymal_b_simple_description/robots/anymal.urdf", floating_base=True)
    m.add_shape("world", dal.Plane(friction=0.8))
    hind = {"HFE": -0.7, "KFE": 1.0}
    pose = {}
    for j in m.joints:
        if j.kind == "revolute":
            leg, part = j.name.split("_")
            pose[j.name] = 0.0 if part == "HAA" else hind[part] if leg[1] == "H" else -hind[part]
            m.add_motor(j.name, j.name, "position", kp=300.0, kv=10.0, limit=80.0)
    exclude_overlaps(m)
    q = m.check_q(pose)
    q[2] = 0.6
    return dal.Simulation(m, "spook", h=1 / 60, q0=q, control=lambda t, q, v: pose, keep=0)


def small() -> dal.Simulation:
    """Five boxes and a ball that hits them after 0.2 s."""
    m = dal.Model("stack and ball")
    m.add_shape("world", dal.Plane(friction=0.5))
    box, ball = dal.Box((0.2, 0.2, 0.2), friction=0.5), dal.Sphere(0.1, friction=0.5)
    for k in range(5):
        m.add_body(f"box {k}", 1.0, box.inertia(1.0), pose=((0, 0, 0.1 + 0.2 * k), (1, 0, 0, 0)), shapes=[box])
    m.add_body("ball", 0.5, ball.inertia(0.5), pose=((-0.8, 0, 0.9), (1, 0, 0, 0)), shapes=[ball])
    return dal.Simulation(m, "spook", h=1e-3, v0={"ball": (0, 0, 0, 3.0, 0, 1.0)}, keep=0)


def times(sim: dal.Simulation, seconds: float, skip: int = 10) -> Any:
    """CPU seconds of each step."""
    found = []
    gc.disable()
    for _ in range(round(seconds / sim.h)):
        began = time.process_time()
        sim.step()
        found.append(time.process_time() - began)
    gc.enable()
    return np.array(found[skip:])


def main() -> int:
    """Measure, print, judge."""
    rooms: list[tuple[str, Callable[[], dal.Simulation], float, float, float]] = [
        ("vehicle, 60 Hz", lambda: of_scene("vehicle"), 8.0, 3e-3, 10e-3),
        ("crane, 60 Hz", lambda: of_scene("crane"), 8.0, 3e-3, 10e-3),
        ("ragdoll, 60 Hz", lambda: of_scene("ragdoll"), 8.0, 3e-3, 10e-3),
        ("ragdoll from MJCF, 60 Hz", ragdoll, 5.0, 3e-3, 10e-3),
        ("ANYmal, 60 Hz", anymal, 5.0, 3e-3, 10e-3),
        ("stack and ball, 1 kHz", small, 2.0, 1e-3, 1e-3),
    ]
    met = []
    print("ms of a step" + " " * 18 + "".join(f"{'worst' if p == 100 else f'{p} %':>9s}" for p in PERCENTILES))
    for name, make, seconds, median, worst in rooms:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            times(make(), min(seconds, 2.0))  # compile
            found = times(make(), seconds)
        at = np.percentile(found, PERCENTILES)
        print(f"  {name:28s}" + "".join(f"{1e3 * x:9.3f}" for x in at), flush=True)
        met.append(
            (
                f"{name}: median {1e3 * at[0]:.2f} < {1e3 * median:g}, worst {1e3 * at[-1]:.2f} < {1e3 * worst:g} ms",
                at[0] < median and at[-1] < worst,
            )
        )
    print("\nTargets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return 0 if all(ok for _, ok in met) else 1


if __name__ == "__main__":
    sys.exit(main())
