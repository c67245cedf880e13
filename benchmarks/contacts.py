"""Contacts beside MuJoCo and PyBullet: time per step, motion of what should stand, penetration; growth with the number of contacts.

    OMP_NUM_THREADS=1 python benchmarks/contacts.py [--quick] [--sections pyramid105 pyramid990 spheres growth]
        [--mujoco PYTHON ...] [--bullet PYTHON]

    pyramid105, pyramid990   cubes of 0.2 m and 1 kg, friction 0.5, gaps of 3 cm, h = 1/60: do they stand, how far does a box move
    spheres                  1,000 balls of 5 cm in a bin, h = 1/240
    growth                   time per step of pyramids up to 20,000 contacts

Every engine gets the scene as numbers and runs in a process of its own, one after the other; --mujoco and --bullet name interpreters of
environments with further versions. CPU time, medians over steps. Of a peer that has fallen, time and motion are given too.
The exit code is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.contact.machine import Machine, Settings

HERE = Path(__file__).parent
H = 1 / 60
STANDS = 0.05  # m: what has moved farther has fallen
MUJOCO = [
    {"solver": "Newton"},
    {"solver": "CG"},
    {"solver": "Newton", "integrator": "implicitfast"},
    {"solver": "CG", "integrator": "implicitfast"},
    {"solver": "CG", "solref": ".01 1"},
    {"solver": "PGS"},
]
DISCRETE = [{"solver": "Newton", "integrator": "discrete"}, {"solver": "CG", "integrator": "discrete"}]
BULLET = [{"iterations": 50}, {"iterations": 200}]


def pyramid(rows: int) -> dict[str, Any]:
    """Centres of the boxes of a pyramid."""
    centres = [[(c - (rows - r) / 2) * 0.23, 0.0, 0.1 + 0.2 * r] for r in range(rows) for c in range(rows - r)]
    return {"kind": "box", "half": 0.1, "mass": 1.0, "friction": 0.5, "centres": centres, "walls": None}


def spheres(n: int) -> dict[str, Any]:
    """Balls on a lattice, slightly disturbed, over a bin."""
    rng, side = np.random.default_rng(0), 8
    grid = np.array([(i % side, i // side % side, i // side**2) for i in range(n)], dtype=float)
    centres = 0.12 * (grid - [(side - 1) / 2, (side - 1) / 2, 0]) + [0, 0, 0.06] + rng.uniform(-0.005, 0.005, (n, 3))
    return {"kind": "sphere", "half": 0.05, "mass": 0.5, "friction": 0.5, "centres": centres.tolist(), "walls": 0.5}


def model(scene: dict[str, Any]) -> dal.Model:
    """The scene as a model."""
    m, mu, size = dal.Model("scene"), scene["friction"], scene["half"]
    m.add_shape("world", dal.Plane(friction=mu))
    if scene["walls"]:
        w = scene["walls"]
        for x, y, q in ((w, 0, (-1, 1)), (-w, 0, (1, 1)), (0, w, (1, 0)), (0, -w, (-1, 0))):
            turn = dal.quat.exp(np.array([0, q[0] * np.pi / 2, 0]) if q[1] else np.array([q[0] * np.pi / 2, 0, 0]))
            m.add_shape("world", dal.Plane(position=(x, y, 0), quaternion=turn, friction=mu))
    for k, x in enumerate(scene["centres"]):
        shape = dal.Box((2 * size,) * 3, friction=mu) if scene["kind"] == "box" else dal.Sphere(size, friction=mu)
        m.add_body(f"b{k}", scene["mass"], shape.inertia(scene["mass"]), pose=(x, (1, 0, 0, 0)), shapes=[shape])
    return m


def ours(scene: dict[str, Any], h: float, steps: int, limit: float, **settings: Any) -> dict[str, Any]:
    """The machine of the stepper, step by step."""
    m = model(scene).frozen()
    machine = Machine(m, Settings(**settings))
    machine.start(m.neutral(), np.zeros(m.nv))
    start, seconds, deep, worst, factors = machine.states[:, :3].copy(), [], 0.0, 0.0, 0
    for k in range(steps):
        began = time.process_time()
        found = machine.step(k * h, h)
        seconds.append(time.process_time() - began)
        worst, factors = max(worst, found.residual), factors + found.factorisations
        deep = max(deep, found.penetration) if k >= steps // 2 else deep
        if sum(seconds) > limit:
            break
    v = machine.states[:, 10:]
    return {
        "version": "dalembert", "steps": len(seconds), "median": float(np.median(seconds)), "mean": float(np.mean(seconds)),
        "moved": float(np.abs(machine.states[:, :3] - start).max()), "penetration": deep, "residual": worst,
        "factorisations": factors / len(seconds), "contacts": found.contacts, "first": seconds[0],
        "kinetic": float(0.5 * scene["mass"] * np.square(v).sum() / len(v)), "worst": float(np.max(seconds[1:], initial=0.0)),
    }  # fmt: skip


def peer(
    python: str, engine: str, setting: dict[str, Any], scene: dict[str, Any], h: float, steps: int, limit: float
) -> dict[str, Any] | None:
    """A peer in its own process; None where it cannot run the setting."""
    request = json.dumps({"engine": engine, "setting": setting, "scene": scene, "h": h, "steps": steps, "limit": limit})
    done = subprocess.run([python, str(HERE / "_contact_peers.py")], input=request, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout else None


def show(name: str, row: dict[str, Any], h: float) -> None:
    """One line."""
    stands = "stands" if row["moved"] < STANDS else "fallen"
    print(
        f"  {name:44s} {1e3 * row['median']:9.3f} ms (mean {1e3 * row['mean']:8.3f})  {row['steps'] * h:6.2f} s  "
        f"moved {1e3 * row['moved']:10.4f} mm {stands}  overlap {1e3 * row['penetration']:8.4f} mm  {row['kinetic']:.1e} J/body",
        flush=True,
    )


def contest(
    title: str, scene: dict[str, Any], h: float, t_end: float, given: argparse.Namespace, limit: float, **settings: Any
) -> dict[str, Any]:
    """Ours and all peers on one scene."""
    steps = round(t_end / h)
    print(f"\n{title}: {len(scene['centres'])} bodies, h = 1/{round(1 / h)}, {t_end:g} s")
    out = {"dalembert": ours(scene, h, steps, max(limit, 600.0), **settings)}
    show(" ".join(("dalembert", *map(str, settings.values()))), out["dalembert"], h)
    peers = [(python, "mujoco", s) for python in given.mujoco for s in (MUJOCO + DISCRETE)]
    peers += [(python, "bullet", s) for python in given.bullet for s in BULLET]
    for python, engine, setting in peers:
        row = peer(python, engine, setting, scene, h, steps, limit)
        if row is not None:
            name = f"{engine} {row['version']} {' '.join(map(str, setting.values()))}"
            out[name] = row
            show(name, row, h)
    return out


def growth(sizes: list[int]) -> float:
    """Exponent of the time per step, the first one left out, in the number of contacts of a pyramid that settles for a second."""
    print("\ngrowth: pyramids, h = 1/60, mean of the steps of the first second but the first two")
    rows = []
    for n in sizes:
        m = model(pyramid(n)).frozen()
        machine = Machine(m, Settings())
        machine.start(m.neutral(), np.zeros(m.nv))
        seconds = []
        for k in range(20):
            began = time.process_time()
            found = machine.step(k * H, H)
            seconds.append(time.process_time() - began)
        rows.append((found.contacts, float(np.mean(seconds[2:]))))
        print(f"  {n:4d} rows {len(m.bodies):6d} bodies {found.contacts:7d} contacts {1e3 * rows[-1][1]:9.2f} ms", flush=True)
    x, y = np.log(np.array(rows)).T
    return float(np.polyfit(x, y, 1)[0])


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short runs")
    parser.add_argument("--sections", nargs="+", default=["pyramid105", "pyramid990", "spheres", "growth"])
    parser.add_argument("--mujoco", nargs="+", default=[sys.executable], help="interpreters with MuJoCo")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a peer on a scene")
    parser.add_argument("--bullet", nargs="*", default=[], help="interpreters with PyBullet")
    given = parser.parse_args()
    met: list[tuple[str, bool]] = []
    ours(pyramid(3), H, 3, 100.0)  # compile
    if "pyramid105" in given.sections:
        found = contest("pyramid of 105", pyramid(14), H, 2.0 if given.quick else 20.0, given, given.limit)
        mine, others = found.pop("dalembert"), [x for x in found.values() if x["moved"] < STANDS]
        met.append((f"105 boxes move {1e3 * mine['moved']:.4f} mm < 0.01", mine["moved"] < 1e-5))
        if others:
            ratio = mine["mean"] / min(x["mean"] for x in others)
            met.append((f"105 boxes: {ratio:.2f} of the fastest peer that stands <= 0.5", ratio <= 0.5))
    if "pyramid990" in given.sections:
        found = contest("pyramid of 990", pyramid(44), H, 1.0 if given.quick else 60.0, given, given.limit)
        mine = found.pop("dalembert")
        met.append((f"990 boxes stand {mine['steps'] * H:.0f} s, move {1e3 * mine['moved']:.4f} mm < 0.1", mine["moved"] < 1e-4))
        if found:
            ratio = mine["mean"] / min(x["mean"] for x in found.values() if "mujoco" in x["version"] or x["version"][0] in "34")
            met.append((f"990 boxes: {ratio:.2f} of the fastest peer's time <= 0.3", ratio <= 0.3))
    if "spheres" in given.sections:
        found = contest(
            "1,000 spheres in a bin",
            spheres(1000),
            1 / 240,
            0.5 if given.quick else 5.0,
            given,
            given.limit,
            solver="gauss-seidel",
            sweeps=30,
        )
        mine, bullet = found.pop("dalembert"), [x for name, x in found.items() if name.startswith("bullet")]
        met.append((f"spheres overlap {1e3 * mine['penetration']:.4f} mm < 0.1", mine["penetration"] < 1e-4))
        if bullet:
            ratio = mine["mean"] / min(x["mean"] for x in bullet)
            met.append((f"spheres: {ratio:.2f} of PyBullet's time <= 0.5", ratio <= 0.5))
    if "growth" in given.sections:
        exponent = growth([14, 22, 32, 44] if given.quick else [14, 22, 32, 44, 60, 70])
        met.append((f"growth with contacts^{exponent:.2f}, at most 1.3", exponent <= 1.3))
    print("\nTargets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return int(not all(ok for _, ok in met))


if __name__ == "__main__":
    sys.exit(main())
