"""Hostile values for public calls: each answers with a result or with an error of the family of the library, in words.

python -m tests.robustness.fuzzing 1000000 [seed]       as many calls as wanted; prints what escaped
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from tests.robustness.hostile import FROZEN, RUN, TOP, mostly, pendulum, value
from tests.robustness.more_calls import MORE

import dalembert as dal


def add_body(rng):
    dal.Model().add_body(
        mostly(rng, "rod"), mostly(rng, 1.0), mostly(rng, (0.1, 0.1, 0.1)), com=mostly(rng, (0, 0, 0)), pose=mostly(rng, None),
        shapes=mostly(rng, ()),
    )  # fmt: skip


def add_joint(rng):
    m = pendulum()
    m.add_body("other", 1.0, (1, 1, 1))
    m.add_joint(
        mostly(rng, "knee", 0.8), mostly(rng, "revolute", 0.8), mostly(rng, "rod", 0.8), mostly(rng, "other", 0.8), mostly(rng, (0, 0, 0)),
        mostly(rng, (0, 1, 0)), damping=mostly(rng, 0.0), limits=mostly(rng, None), stiffness=mostly(rng, 0.0),
    )  # fmt: skip


def add_rest(rng):
    m = pendulum()
    which = rng.integers(4)
    if which == 0:
        m.add_motor(mostly(rng, "motor"), mostly(rng, "hinge"), mostly(rng, "torque"), limit=mostly(rng, None))
    elif which == 1:
        m.add_force(mostly(rng, dal.Wrench("rod", force=(0, 0, 1))))
    elif which == 2:
        m.add_contact(mostly(rng, "rod"), mostly(rng, "world"), friction=mostly(rng, 0.5), restitution=mostly(rng, 0.0))
    else:
        dal.Spring(mostly(rng, "rod"), mostly(rng, "world"), stiffness=mostly(rng, 1.0), rest_length=mostly(rng, 1.0))


def shapes(rng):
    made = (dal.Sphere, dal.Box, dal.Capsule, dal.Cylinder, dal.Ellipsoid, dal.Convex)[rng.integers(6)]
    count = {dal.Capsule: 2, dal.Cylinder: 2}.get(made, 1)
    made(*(mostly(rng, 0.5) for _ in range(count)))


def states(rng):
    m = (FROZEN, TOP)[rng.integers(2)]
    calls = ("energy", "momentum", "mass_matrix", "poses", "integrate", "difference", "forward_dynamics", "inverse_dynamics")
    call = calls[rng.integers(8)]
    q, v = mostly(rng, m.neutral()), mostly(rng, np.zeros(m.nv))
    given = {"energy": (q, v), "momentum": (q, v), "mass_matrix": (q,), "poses": (q,), "integrate": (q, v), "difference": (q, q)}
    getattr(m, call)(*given.get(call, (q, v, mostly(rng, np.zeros(m.nv)))))


def simulate(rng):
    h = mostly(rng, 0.01, 0.8)
    dal.simulate(
        FROZEN, mostly(rng, "midpoint", 0.9), h=h, t_end=mostly(rng, 0.02, 0.9), q0=mostly(rng, [0.3]), v0=mostly(rng, None),
        control=mostly(rng, None, 0.9), every=mostly(rng, 1, 0.9), compose=mostly(rng, None, 0.9), ignore=mostly(rng, (), 0.9),
        progress=False,
    )  # fmt: skip


def simulation(rng):
    sim = dal.Simulation(FROZEN, stepper="midpoint", h=mostly(rng, 0.01, 0.9), keep=mostly(rng, 0, 0.9))
    sim.reset(mostly(rng, [0.1]), mostly(rng, None))
    sim.step(mostly(rng, 1, 0.8), tau=mostly(rng, None))


def lcp(rng):
    n = int(rng.integers(0, 4))
    M = rng.normal(size=(n, n))
    dal.lcp(mostly(rng, M @ M.T + np.eye(n)), mostly(rng, rng.normal(size=n)), method=mostly(rng, "lemke", 0.9))


def values(rng):
    name = ("rod.mass", "hinge.damping", "gravity", "rod.com", "rod.inertia", "typo")[rng.integers(6)]
    FROZEN.with_values({name: value(rng)})


def trajectory(rng):
    (RUN.at, RUN.reaction, RUN.joint)[rng.integers(3)](value(rng))


def registry(rng):
    which = rng.integers(4)
    if which == 0:
        dal.steppers(**{("order", "name", "typo", "kind")[rng.integers(4)]: value(rng)})
    elif which == 1:
        dal.advise(FROZEN, mostly(rng, [0.1]), mostly(rng, [0.0]), mostly(rng, "trapezoidal"))
    elif which == 2:
        dal.cite(mostly(rng, RUN))
    else:
        dal.scenes.find(value(rng))


def files(rng):
    (dal.load, dal.load_study, dal.control.load)[rng.integers(3)](value(rng))


def model_text(rng):
    """Files of machines with bytes changed, left out and doubled."""
    text = list(MACHINES[rng.integers(len(MACHINES))])
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(len(text)))
        what = rng.integers(3)
        if what == 0:
            text[at] = chr(int(rng.integers(1, 256)))
        elif what == 1:
            del text[at : at + int(rng.integers(1, 20))]
        else:
            text[at:at] = text[at : at + int(rng.integers(1, 30))]
    dal.load_model("".join(text), floating_base=mostly(rng, None, 0.9))


def ensembles(rng):
    samples, h, names = mostly(rng, {"q0": [[0.1]]}), mostly(rng, 0.01), mostly(rng, None)
    dal.ensemble(FROZEN, samples, "midpoint", h=h, t_end=0.02, names=names, executor="here")


def designs(rng):
    dal.design(mostly(rng, np.random.default_rng(0), 0.8), mostly(rng, 3), mostly(rng, {"q0": (0, 1)}))


def plans(rng):
    dal.control.dmoc(
        FROZEN, mostly(rng, 3, 0.8), mostly(rng, [0.0]), mostly(rng, [0.1]), h=mostly(rng, 0.1, 0.8), bounds=mostly(rng, None, 0.8),
        cost=mostly(rng, "effort", 0.9),
    )  # fmt: skip


MACHINES = (
    "<mujoco><worldbody><body name='b' pos='0 0 1'><joint name='j' type='hinge' axis='0 1 0'/><geom size='.1' mass='1'/></body></worldbody>"
    "</mujoco>",
    "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
    "</inertial></link><joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 1 0'/></joint></robot>",
)
#: call, how often beside the others
CALLS = {
    add_body: 6, add_joint: 6, add_rest: 4, shapes: 4, states: 8, simulate: 3, simulation: 3, lcp: 4, values: 6, trajectory: 4, registry: 3,
    files: 3, model_text: 2, ensembles: 2, designs: 4, plans: 1, **MORE,
}  # fmt: skip


def fuzz(count, seed=0):
    """(calls that answered well, calls that answered by an error in words, what escaped: {call and exception: (times, seed of one)})."""
    weights = np.array(list(CALLS.values()), dtype=float)
    chosen = np.random.default_rng(seed).choice(len(CALLS), size=count, p=weights / weights.sum())
    calls, fine, told, escaped = list(CALLS), 0, 0, Counter()
    first = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k, which in enumerate(chosen):
            try:
                calls[which](np.random.default_rng((seed, k)))
                fine += 1
            except dal.DalembertError as error:
                told += 1
                if not str(error).strip():
                    escaped[f"{calls[which].__name__}: {type(error).__name__} without words"] += 1
            except Exception as error:
                frames = [f for f in traceback.extract_tb(error.__traceback__) if "dalembert" in f.filename and "fuzzing" not in f.filename]
                where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
                key = f"{calls[which].__name__}: {where}: {type(error).__name__}: {str(error)[:60]}"
                escaped[key] += 1
                first.setdefault(key, (seed, k))
    return fine, told, {key: (n, first.get(key)) for key, n in escaped.items()}


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began, fine, told, wrong = time.perf_counter(), 0, 0, {}
    for part in range(0, count, 20_000):
        a, b, c = fuzz(min(20_000, count - part), seed + part)
        fine, told, wrong = fine + a, told + b, {**wrong, **c}
        print(f"{part + min(20_000, count - part)} calls: {fine} results, {told} errors in words, {len(wrong)} kinds escaped", flush=True)
    for key, (n, where) in sorted(wrong.items()):
        print(f"  {n} x {key}   {where}")
    print(f"{time.perf_counter() - began:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
