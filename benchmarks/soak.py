"""Soak: a machine with contacts runs for a long time while parts of it come and go at random.

    python benchmarks/soak.py [--steps 1000000] [--seed 1] [--minutes 30]

Between bursts of steps `sim.edit()` adds and removes bodies of all shapes, limbs on hinges with limits and motors, joints of many kinds
between bodies as they are, springs, drag, wrenches, laws of contact, changes masses, damping, gravity, the step size, and pushes bodies.
After every burst all numbers are finite, nothing is below the floor, nothing is faster than what falls and is pushed can be. Now and then
the simulation goes on from its pickle beside itself, bit for bit. Now and then a run that is saved with its contacts is killed (SIGKILL),
and resumed: bit for bit the run that was not. Memory (RSS) may grow by 16 MB after the first tenth. The exit code is 1 if something is not
so; the seed repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal

H = 1 / 60
FEWEST, MOST = 4, 14  # bodies
JOINTS, FORCES, LAWS = 6, 4, 6
FASTEST = 60.0  # m/s: pushes of 20 N on 0.3 kg for 0.1 s are 7, 10 m with 20 m/s^2 (weight, wrenches) 20; new bodies may overlap others
FAR = 10.0  # m from the middle: what has rolled or flown away is removed
ALLOWED = 16e6  # bytes
EDITS = ("body", "body", "limb", "limb", "gone", "gone", "joint", "joint", "loose", "force", "force gone", "law", "law gone", "number",
         "damping", "gravity", "motor gone", "exclude", "step size", "push", "replace")  # fmt: skip


def rss() -> int:
    """Memory of this process, bytes, without what the allocator keeps for later (edits with shapes that MuJoCo detects leave holes)."""
    gc.collect()
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def shape(rng: np.random.Generator) -> Any:
    """One of all kinds, 0.1 to 0.3 m."""
    material = {"friction": float(rng.choice([0.0, 0.3, 0.6])), "restitution": float(rng.choice([0.0, 0.0, 0.4]))}
    r = rng.uniform(0.05, 0.12, 3)
    corners = rng.normal(size=(10, 3))
    corners *= 0.12 / np.linalg.norm(corners, axis=1, keepdims=True)
    return [
        lambda: dal.Box(2 * r, **material),
        lambda: dal.Sphere(r[0], **material),
        lambda: dal.Capsule(r[0], 2 * r[1], **material),
        lambda: dal.Cylinder(r[0], 2 * r[1], **material),
        lambda: dal.Ellipsoid(r, **material),
        lambda: dal.Convex(corners, **material),
    ][rng.integers(6)]()


def add_body(m: Any, name: str, rng: np.random.Generator) -> None:
    """In a random attitude above the floor."""
    s, mass, q = shape(rng), float(rng.uniform(0.3, 3.0)), rng.normal(size=4)
    inertia = s.inertia(mass) if hasattr(s, "inertia") else np.full(3, 0.4 * mass * 0.1**2)
    place = (*rng.uniform(-0.6, 0.6, 2), rng.uniform(0.8, 2.5))
    m.add_body(name, mass, inertia, pose=(place, q / np.linalg.norm(q)), shapes=[s])


def world(seed: int, bodies: int = 8) -> Any:
    """A floor, and bodies above it."""
    m, rng = dal.Model("soak"), np.random.default_rng(seed)
    m.add_shape("world", dal.Plane(friction=0.5))
    for k in range(bodies):
        add_body(m, f"b{k}", rng)
    return m


class Soak:
    """A simulation that is changed at random; `burst()` is one change and some steps."""

    def __init__(self, seed: int = 1):
        self.rng, self.number, self.steps, self.edits, self.refused, self.peak = np.random.default_rng(seed), 100, 0, 0, 0, 0.0
        self.sim = dal.Simulation(world(seed), "spook", h=H, keep=0)

    def burst(self, steps: int) -> None:
        """Change something, step, judge."""
        what = str(self.rng.choice(EDITS))
        try:
            self.change(what)
        except dal.DalembertError as error:  # an edit that is refused leaves everything as it was
            self.refused += 1
            if not isinstance(error, (dal.ModelError, dal.OptionError, dal.UnsupportedError)):
                raise
        self.edits += 1
        for n in (min(steps, 6), max(steps - 6, 0)):  # a push lasts for one call
            if n:
                self.sim.step(n)
        self.steps += steps
        self.judge(what)

    def judge(self, what: str) -> None:
        """Finite, above the floor, not too fast."""
        q, v = self.sim._run.engine.machine.configuration()
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise AssertionError(f"step {self.steps}, after {what}: a number is not finite")
        speed, low = float(np.abs(v.reshape(-1, 6)[:, 3:]).max()), float(q.reshape(-1, 7)[:, 2].min())
        self.peak = max(self.peak, speed)
        if speed > FASTEST or low < -0.05:
            raise AssertionError(f"step {self.steps}, after {what}: speed {speed:.1f} m/s, lowest body at {low:.3f} m")

    def change(self, what: str) -> None:
        """One change."""
        rng, m = self.rng, self.sim.model
        names, self.number = [b.name for b in m.bodies], self.number + 1
        one, two = (str(x) for x in rng.choice(names, 2, replace=False))
        q = self.sim._run.engine.machine.configuration()[0].reshape(-1, 7)
        gone = [n for n, x in zip(names, q, strict=True) if np.abs(x[:3]).max() > FAR]
        if what == "step size":
            self.sim.h = float(rng.choice([1 / 60, 1 / 120, 1 / 50]))
        elif what == "push":
            self.sim.apply_force(one, force=rng.normal(0, 10, 3), torque=rng.normal(0, 0.2, 3))
        elif gone or (what == "gone" and len(names) > FEWEST):
            with self.sim.edit() as edited:
                for name in gone[: len(names) - FEWEST + 1] or [one]:
                    edited.remove_body(name, cascade=True)
                if len(edited.bodies) < FEWEST:
                    add_body(edited, f"b{self.number}", rng)
        else:
            with self.sim.edit() as edited:
                self.apply(edited, what, one, two)

    def apply(self, m: Any, what: str, one: str, two: str) -> None:
        """A change of a model."""
        rng = self.rng
        if what == "body" and len(m.bodies) < MOST:
            add_body(m, f"b{self.number}", rng)
        elif what == "limb" and len(m.bodies) < MOST and self.up(one)[2] > 0.0:
            self.add_limb(m, one)
        elif what == "motor gone" and m.motors:
            m.remove_motor(m.motors[rng.integers(len(m.motors))].name)
        elif what == "damping" and m.motors:
            m.set_values({f"{m.motors[0].joint}.damping": float(rng.uniform(0.0, 0.2))})
        elif what == "replace" and len(m.bodies) > FEWEST:
            m.remove_body(one, cascade=True)
            add_body(m, f"b{self.number}", rng)
        elif what == "joint" and len(m.loops) < JOINTS and {one, two} not in [{j.parent, j.child} for j in m.loops]:
            kind = str(rng.choice(["spherical", "fixed", "revolute", "prismatic", "universal", "cylindrical"]))
            axes = {"axis": (0, 1, 0), **({"axis2": (1, 0, 0)} if kind == "universal" else {})}
            m.add_loop(f"j{self.number}", kind, one, two, **{**axes, **self.sim.here(one, two)})
        elif what == "loose" and m.loops:
            m.remove_joint(str(rng.choice([j.name for j in m.loops])))
        elif what == "force" and len(m.forces) < FORCES:
            spring = dal.Spring(one, two, stiffness=float(rng.uniform(5, 100)), rest_length=0.3, damping=1.0)
            drag = dal.Damper(one, linear=0.5, angular=0.01)
            m.add_force([spring, drag, dal.Wrench(one, force=rng.normal(0, 1, 3))][rng.integers(3)], f"f{self.number}")
        elif what == "force gone" and m.forces:
            m.remove_force(str(rng.choice(list(m.force_names))))
        elif what == "law" and len(m.contacts) < LAWS:
            law = {"friction": 0.4, "rolling": 1e-3, "torsion": 1e-3} if rng.integers(2) else {"friction": 0.6, "kinetic_friction": 0.3}
            m.add_contact(one, str(rng.choice([two, "world"])), **law)
        elif what == "law gone" and m.contacts:
            law = m.contacts[rng.integers(len(m.contacts))]
            m.remove_contact(law.a, law.b)
        elif what == "exclude":
            m.exclude(one, two)
        elif what == "number":
            m.set_values({f"{one}.mass": float(rng.uniform(0.3, 3.0))})
        elif what == "gravity":
            m.gravity = (*rng.normal(0, 0.5, 2), -float(rng.uniform(3, 12)))

    def up(self, name: str) -> Any:
        """Where what was above a body in the reference configuration is now, seen from it."""
        q = self.sim._run.engine.machine.configuration()[0].reshape(-1, 7)
        body = self.sim.model.body(name)
        now, then = (dal.quat.to_matrix(np.array(x)) for x in (q[[b.name for b in self.sim.model.bodies].index(name), 3:], body.quaternion))
        return now @ then.T @ np.array([0.0, 0.0, 1.0])

    def add_limb(self, m: Any, parent: str) -> None:
        """A rod on a hinge with limits, joint friction and a motor that brakes."""
        name, rod = f"b{self.number}", dal.Capsule(0.03, 0.2, friction=0.5)
        at = np.array(m.body(parent).position) + np.array([0.0, 0.0, 0.3])
        m.add_body(name, 0.5, rod.inertia(0.5), pose=(at, (1, 0, 0, 0)), shapes=[rod])
        m.add_joint(
            f"h{self.number}", "revolute", parent, name, at - (0, 0, 0.15), (0, 1, 0), limits=(-1.0, 1.0), damping=0.05, friction=0.05
        )
        m.add_motor(f"m{self.number}", f"h{self.number}", "velocity", limit=0.2, kv=1.0)

    def goes_on_from_its_pickle(self, steps: int = 20) -> bool:
        """Beside itself, bit for bit."""
        other = pickle.loads(pickle.dumps(self.sim))
        a, b = self.sim.step(steps), other.step(steps)
        self.steps += steps
        return np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v)


# killed and resumed ----------------------------------------------------------------------------------------------------------------------

CHILD = "import sys; sys.path.insert(0, sys.argv[1]); import soak; soak.run_until_killed(sys.argv[2], int(sys.argv[3]))"


def jointed(seed: int) -> Any:
    """A pile in which some bodies hang together."""
    m = world(seed, 10)
    for a, b in ((0, 1), (2, 3)):
        m.add_joint(f"link{a}", "spherical", f"b{a}", f"b{b}", m.body(f"b{b}").position)
    return m


def run_until_killed(path: str, seed: int) -> None:
    """A run that is saved."""
    print("ready", flush=True)
    dal.simulate(jointed(seed), "spook", h=H, t_end=10000 * 60 * H, save=path, every=4)


def killed_and_resumed(seed: int, seconds: float, steps: int = 240) -> bool:
    """Kill a run after some time, resume it for more steps; True if states, contacts and events are those of a run without a break."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        here = str(Path(__file__).parent)
        with subprocess.Popen([sys.executable, "-c", CHILD, here, str(path), str(seed)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            until = time.monotonic() + 120.0
            while not path.exists() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(seconds)
            child.send_signal(signal.SIGKILL)
            child.wait()
        t_end = round(dal.load(path).t[-1] / H + steps) * H
        resumed = dal.resume(path, t_end)
        whole = dal.simulate(jointed(seed), "spook", h=H, t_end=t_end, every=4)
        return bool(np.array_equal(resumed.states, whole.states) and resumed.contacts == whole.contacts and resumed.events == whole.events)


# the long version ------------------------------------------------------------------------------------------------------------------------


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=float, default=1e6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30.0, help="ends earlier than the steps")
    parser.add_argument("--every", type=int, default=100, help="steps of a burst, on average")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    soak, began, first, told, failed = Soak(given.seed), time.monotonic(), 0, 0, []
    with contextlib.suppress(KeyboardInterrupt):
        while soak.steps < given.steps and time.monotonic() - began < 60.0 * given.minutes:
            soak.burst(int(soak.rng.integers(1, 2 * given.every)))
            if soak.edits % 200 == 0 and not soak.goes_on_from_its_pickle():
                failed.append(f"step {soak.steps}: its pickle goes another way")
            if soak.steps >= told + given.steps / 20:
                told = soak.steps
                first = first or (rss() if soak.steps >= given.steps / 10 else 0)
                if not killed_and_resumed(given.seed + soak.edits, float(soak.rng.uniform(0, 1))):
                    failed.append(f"step {soak.steps}: resumed is another run (seed {given.seed + soak.edits})")
                print(
                    f"  {soak.steps:8d} steps {soak.edits:6d} edits ({soak.refused} refused) {time.monotonic() - began:6.0f} s  "
                    f"{len(soak.sim.model.bodies):2d} bodies {len(soak.sim.model.loops)} joints  fastest {soak.peak:.1f} m/s  "
                    f"{rss() / 1e6:.1f} MB",
                    flush=True,
                )
    grown = rss() - first if first else 0
    if grown > ALLOWED:
        failed.append(f"memory grew by {grown / 1e6:.1f} MB after the first tenth")
    print(f"{soak.steps} steps, {soak.edits} edits, {time.monotonic() - began:.0f} s, memory grew by {grown / 1e6:.1f} MB")
    print("\n".join(failed) or "all is well")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
