"""Contacts beside MuJoCo, PyBullet, Drake, DART and Newton: time per step, overlap, drift, energy, momentum, creep; growth with contacts.

    OMP_NUM_THREADS=1 python benchmarks/contacts.py [--quick] [--sections pyramid105 pyramid990 spheres growth]
        [--mujoco PYTHON ...] [--bullet PYTHON ...] [--drake PYTHON ...] [--dart PYTHON ...] [--newton PYTHON ...] [--limit SECONDS]

    pyramid105, pyramid990   cubes of 0.2 m and 1 kg, friction 0.5, gaps of 3 cm, h = 1/60: do they stand, how far does a box move
    spheres                  1,000 balls of 5 cm in a bin, h = 1/240
    growth                   time per step of pyramids up to 20,000 contacts, at rest: exact, and by Gauss-Seidel

Of every engine two small scenes tell how it keeps the laws: a block on a slope of 20 degrees with friction 0.5 (creep), and two clusters of
27 cubes that meet in free space (momentum, angular and linear; energy gained).

Engines get scenes as numbers and run in processes of their own, one after the other; options name interpreters that have them, of any
version. Each gets --limit CPU seconds per scene (ours at most 200), and is ended at 1.5 of that and 45 s of wall time. CPU time, means over
all steps but the first. What has neither fallen nor come to the end of its run is "short". Overlaps of all engines are measured by one
detector, ours. DART sees at most 1,000 contacts (its Python bindings), Newton computes in single precision. The exit code is 1 if a target
is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from _contact_peers import run

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.machine import Machine, Settings
from dalembert.contact.scene import Scene
from dalembert.model.compile_bodies import compile_bodies

HERE = Path(__file__).parent
H, FINE = 1 / 60, 1 / 240
STANDS = 0.05  # m: what has moved farther has fallen
OURS = 200.0  # CPU seconds of ours on a scene
START = 45.0  # s of wall time that an engine may take to start
NEWTON = {"solver": "Newton"}
CG = {"solver": "CG"}
PEERS: dict[str, list[dict[str, Any]]] = {
    "mujoco": [
        NEWTON, CG, {**NEWTON, "integrator": "implicitfast"}, {**CG, "integrator": "implicitfast"}, {"solver": "PGS"},
        {**NEWTON, "integrator": "discrete"}, {**CG, "integrator": "discrete"},
    ],
    "bullet": [{"iterations": 50}, {"iterations": 200}],
    "drake": [{"approximation": a, "contact": c} for a, c in (("sap", "point"), ("sap", "hydroelastic"), ("lagged", "hydroelastic"))],
    "dart": [{"solver": "dantzig", "detector": "bullet"}, {"solver": "nsgs", "detector": "bullet"}],
    "newton": [{"solver": "XPBD", "iterations": 10}, {"solver": "Steel"}, {"solver": "Kamino"}],
}  # fmt: skip

# scenes ----------------------------------------------------------------------------------------------------------------------------------


def scene(kind: str, half: float, mass: float, centres: Any, **more: Any) -> dict[str, Any]:
    """What `_contact_peers.py` calls a scene; friction 0.5."""
    usual = {"walls": None, "gravity": [0.0, 0.0, -9.81], "plane": True, "velocities": None}
    places = np.asarray(centres, dtype=float).tolist()
    return {"kind": kind, "half": half, "mass": mass, "friction": 0.5, "centres": places, **usual, **more}


def pyramid(rows: int) -> dict[str, Any]:
    """Cubes in a wall."""
    return scene("box", 0.1, 1.0, [[(c - (rows - r) / 2) * 0.23, 0.0, 0.1 + 0.2 * r] for r in range(rows) for c in range(rows - r)])


def spheres(n: int) -> dict[str, Any]:
    """Balls on a lattice, slightly disturbed, over a bin."""
    rng, side = np.random.default_rng(0), 8
    grid = np.array([(i % side, i // side % side, i // side**2) for i in range(n)], dtype=float)
    centres = 0.12 * (grid - [(side - 1) / 2, (side - 1) / 2, 0]) + [0, 0, 0.06] + rng.uniform(-0.005, 0.005, (n, 3))
    return scene("sphere", 0.05, 0.5, centres, walls=0.5)


def slope(degrees: float = 20.0) -> dict[str, Any]:
    """A cube on a floor whose normal leans against gravity."""
    a = math.radians(degrees)
    return scene("box", 0.1, 1.0, [[0.0, 0.0, 0.1]], gravity=[9.81 * math.sin(a), 0.0, -9.81 * math.cos(a)])


def encounter() -> dict[str, Any]:
    """Two clusters of cubes that meet, off centre, without gravity."""
    grid = 0.22 * (np.array([(i % 3, i // 3 % 3, i // 9) for i in range(27)], dtype=float) - 1.0)
    centres = np.concatenate([grid + np.array([-0.4, 0.05, 0.0]), grid + np.array([0.4, -0.05, 0.03])])
    speeds = np.repeat([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]], 27, axis=0)
    return scene("box", 0.1, 1.0, centres, gravity=[0.0, 0.0, 0.0], plane=False, velocities=speeds.tolist())


def model(given: dict[str, Any]) -> dal.Model:
    """The scene as a model."""
    m, mu, size = dal.Model("scene", gravity=given["gravity"]), given["friction"], given["half"]
    if given["plane"]:
        m.add_shape("world", dal.Plane(friction=mu))
    if given["walls"]:
        w = given["walls"]
        for x, y, q in ((w, 0, (-1, 1)), (-w, 0, (1, 1)), (0, w, (1, 0)), (0, -w, (-1, 0))):
            turn = dal.quat.exp(np.array([0, q[0] * np.pi / 2, 0]) if q[1] else np.array([q[0] * np.pi / 2, 0, 0]))
            m.add_shape("world", dal.Plane(position=(x, y, 0), quaternion=turn, friction=mu))
    shape = dal.Box((2 * size,) * 3, friction=mu) if given["kind"] == "box" else dal.Sphere(size, friction=mu)
    for k, x in enumerate(given["centres"]):
        m.add_body(f"b{k}", given["mass"], shape.inertia(given["mass"]), pose=(x, (1, 0, 0, 0)), shapes=[shape])
    return m


# engines ---------------------------------------------------------------------------------------------------------------------------------


def by_dalembert(given: dict[str, Any], settings: dict[str, Any], h: float) -> Any:
    """The machine of the stepper as an engine of `_contact_peers.py`."""
    m = model(given).frozen()
    machine = Machine(m, Settings(**settings))
    v = np.zeros((len(m.bodies), 6))
    if given["velocities"] is not None:
        v[:, 3:] = given["velocities"]
    machine.start(m.neutral(), v.reshape(-1))
    clock = [0.0]

    def step() -> None:
        machine.step(clock[0], h)
        clock[0] += h

    def look() -> tuple[Any, ...]:
        s = machine.states
        R = np.array([dal.quat.to_matrix(q) for q in s[:, 3:7]])
        return s[:, :3].copy(), s[:, 3:7].copy(), s[:, 10:].copy(), np.einsum("nij,nj->ni", R, s[:, 7:10])

    return step, look, dal.__version__


def ours(runs: list[dict[str, Any]], settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Answers as of a peer."""
    return [run(by_dalembert(r["scene"], settings, r["h"]), r["scene"], r["steps"], OURS) for r in runs]


def peer(python: str, engine: str, setting: dict[str, Any], runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers of a peer in a process of its own, as many as it gave within its time; none where it cannot run the setting."""
    request = json.dumps({"engine": engine, "setting": setting, "runs": runs})
    most = START + 1.5 * sum(r["limit"] for r in runs)
    try:
        text = subprocess.run(
            [python, str(HERE / "_contact_peers.py")], input=request, capture_output=True, text=True, check=False, timeout=most
        ).stdout
    except subprocess.TimeoutExpired as late:
        text = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def overlap(given: dict[str, Any], poses: list[Any]) -> float:
    """Deepest overlap (m) of bodies at poses (x, q), by our detector."""
    bodies = compile_bodies(model(given).frozen())
    detector = Detector(Scene.of(model(given).frozen(), bodies.names))
    deep = 0.0
    for pose in np.array(poses, dtype=float):
        count = detector.detect(pose[:, :3].copy(), pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True))
        if count > 0:
            deep = max(deep, -float(detector.contacts.gap[:count].min()))
        detector.forget()
    return deep


def creep(answer: dict[str, Any], h: float) -> float:
    """m per 10 s of a block that should stick, its first second left out."""
    trace = np.array(answer["trace"])
    t, x = h * trace[:, 0], trace[:, 1:]
    late = t >= 1.0 - 1e-9
    if late.sum() < 2:
        return math.nan
    return float(np.linalg.norm(x[late][-1] - x[late][0]) * 10.0 / (t[late][-1] - t[late][0]))


# tables ----------------------------------------------------------------------------------------------------------------------------------

HEAD = f"  {'':46s} {'ms/step':>9s} {'run, s':>7s} {'overlap':>9s} {'drift':>10s} {'gained':>9s} {'momentum':>9s} {'creep':>9s}"
UNITS = f"  {'':46s} {'CPU':>9s} {'':>7s} {'mm':>9s} {'mm':>10s} {'mJ/body':>9s} {'relative':>9s} {'mm/10 s':>9s}"


def plan(given: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The runs of every engine: the two laws, then the sections."""
    quick = given.quick
    wanted = {
        "slope": (slope(), H, 11.0),
        "encounter": (encounter(), H, 1.0),
        "pyramid105": (pyramid(14), H, 2.0 if quick else 20.0),
        "spheres": (spheres(1000), FINE, 0.5 if quick else 5.0),
        "pyramid990": (pyramid(44), H, 1.0 if quick else 60.0),
    }
    return {
        name: {"scene": s, "h": h, "steps": round(t / h), "limit": given.limit}
        for name, (s, h, t) in wanted.items()
        if name in ("slope", "encounter") or name in given.sections
    }


def tell(name: str, answers: list[dict[str, Any]], runs: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Answers by section, with what the judge says."""
    out = dict(zip(runs, answers, strict=False))
    for key, a in out.items():
        a["overlap"], a["seconds"] = overlap(runs[key]["scene"], a.pop("poses")), a["steps"] * runs[key]["h"]
        a["stands"] = "fallen" if a["moved"] >= STANDS else "stands" if a["steps"] == runs[key]["steps"] else "short"
    laws = {
        "momentum": out["encounter"]["momentum"] if "encounter" in out else math.nan,
        "creep": creep(out["slope"], runs["slope"]["h"]) if "slope" in out else math.nan,
    }
    print(f"  {name}: {', '.join(out) or 'does not run'}", flush=True)
    return {key: {**a, **laws} for key, a in out.items()}


def show(name: str, row: dict[str, Any], stands: bool) -> None:
    """One line; drift of what should stand alone."""
    drift = f"{1e3 * row['moved']:10.4g}" if stands else f"{'-':>10s}"
    print(
        f"  {name:46s} {1e3 * row['mean']:9.3f} {row['seconds']:7.2f} {1e3 * row['overlap']:9.4f} {drift} "
        f"{1e3 * row['gained']:9.2g} {row['momentum']:9.1e} {1e3 * row['creep']:9.2g} {row['stands'] if stands else ''}"
    )


def table(title: str, key: str, found: dict[str, dict[str, Any]], stands: bool = True) -> dict[str, dict[str, Any]]:
    """Print a section; returns its rows by engine."""
    rows = {name: answers[key] for name, answers in found.items() if key in answers}
    print(f"\n{title}\n{HEAD}\n{UNITS}")
    for name, row in rows.items():
        show(name, row, stands)
    return rows


def growth(sizes: list[int], settings: dict[str, Any]) -> float:
    """Exponent of the time per step in the number of contacts, of pyramids that have settled for 40 steps: mean of the next 20."""
    rows = []
    for n in sizes:
        m = model(pyramid(n)).frozen()
        machine = Machine(m, Settings(**settings))
        machine.start(m.neutral(), np.zeros(m.nv))
        for k in range(40):
            machine.step(k * H, H)
        began = time.process_time()
        for k in range(40, 60):
            contacts = machine.step(k * H, H).contacts
        rows.append((contacts, (time.process_time() - began) / 20.0))
        print(f"  {n:4d} rows {len(m.bodies):6d} bodies {contacts:7d} contacts {1e3 * rows[-1][1]:9.2f} ms", flush=True)
    x, y = np.log(np.array(rows)).T
    return float(np.polyfit(x, y, 1)[0])


# judgement -------------------------------------------------------------------------------------------------------------------------------


def fastest(rows: dict[str, dict[str, Any]], engine: str = "", standing: bool = False) -> float:
    """Least time per step of the peers that count, s; inf if there is none."""
    some = [
        r["mean"] for name, r in rows.items() if engine in name and "dalembert" not in name and (not standing or r["stands"] == "stands")
    ]
    return min(some, default=math.inf)


def judge(sections: dict[str, dict[str, dict[str, Any]]]) -> list[tuple[str, bool]]:
    """Targets of the sections that were run."""
    met: list[tuple[str, bool]] = []

    def against(what: str, rows: dict[str, Any], name: str, limit: float, **which: Any) -> None:
        best = fastest(rows, **which)
        if math.isfinite(best):
            ratio = rows[name]["mean"] / best
            met.append((f"{what}: {ratio:.2f} of its time <= {limit}", ratio <= limit))

    if rows := sections.get("pyramid105"):
        mine = rows["dalembert"]
        met.append((f"105 boxes move {1e3 * mine['moved']:.4f} mm < 0.01", mine["moved"] < 1e-5))
        against("105 boxes, the fastest peer that stands", rows, "dalembert", 0.5, standing=True)
    if rows := sections.get("pyramid990"):
        mine = rows["dalembert"]
        met.append((f"990 boxes stand {mine['seconds']:.0f} s, move {1e3 * mine['moved']:.4f} mm < 0.1", mine["moved"] < 1e-4))
        against("990 boxes, the fastest MuJoCo", rows, "dalembert", 0.3, engine="mujoco")
    if rows := sections.get("spheres"):
        mine = rows["dalembert gauss-seidel"]
        met.append((f"spheres overlap {1e3 * mine['overlap']:.4f} mm < 0.1", mine["overlap"] < 1e-4))
        against("spheres, PyBullet", rows, "dalembert gauss-seidel", 0.5, engine="bullet")
    return met


def measure(given: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """All engines on all sections."""
    runs = plan(given)
    slow = {"dalembert": {k: r for k, r in runs.items() if k != "spheres"}, "dalembert gauss-seidel": runs}
    found = {}
    for name, own in slow.items():
        settings = {"solver": "gauss-seidel", "sweeps": 30} if "gauss" in name else {}
        mine = {k: r for k, r in own.items() if not settings or not k.startswith("pyramid")}
        found[name] = tell(name, ours(list(mine.values()), settings), mine)
    for engine, settings_ in PEERS.items():
        for python in getattr(given, engine):
            for setting in settings_:
                answers = peer(python, engine, setting, list(runs.values()))
                version = answers[0]["version"] if answers else "?"
                name = f"{engine} {version} {' '.join(map(str, setting.values()))}"
                found[name] = tell(name, answers, runs)
    return found


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short runs")
    parser.add_argument("--sections", nargs="+", default=["pyramid105", "pyramid990", "spheres", "growth"])
    parser.add_argument("--limit", type=float, default=6.0, help="CPU seconds of a peer on a scene")
    for engine in PEERS:
        parser.add_argument(
            f"--{engine}", nargs="*", default=[sys.executable] if engine == "mujoco" else [], help="interpreters that have it"
        )
    given = parser.parse_args()
    run(by_dalembert(pyramid(3), {}, H), pyramid(3), 3, OURS)  # compile
    found = measure(given)
    titles = {
        "pyramid105": "pyramid of 105 boxes, h = 1/60",
        "pyramid990": "pyramid of 990 boxes, h = 1/60",
        "spheres": "1,000 balls in a bin, h = 1/240",
    }
    sections = {key: table(title, key, found, key != "spheres") for key, title in titles.items() if key in given.sections}
    met = judge(sections)
    if "growth" in given.sections:
        sizes = [14, 22, 32, 44] if given.quick else [14, 22, 32, 44, 60, 71]
        for title, settings, most in (("exact", {}, 1.3), ("gauss-seidel", {"solver": "gauss-seidel", "sweeps": 30}, 1.1)):
            print(f"\ngrowth, {title}: pyramids at rest, h = 1/60")
            exponent = growth(sizes, settings)
            met.append((f"{title}: time grows with contacts^{exponent:.2f}, at most {most}", exponent <= most))
    print("\nTargets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return int(not all(ok for _, ok in met))


if __name__ == "__main__":
    sys.exit(main())
