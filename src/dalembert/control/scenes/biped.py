"""A biped of five links takes one step of a gait: torso, two thighs, two shins with point feet, in a plane, driven at hips and knees.

The stance foot sticks from the first node to the last. At the last the swing foot strikes the ground and sticks, without bounce, and the
other one is free. The gait repeats with the legs exchanged: what is left after the impact is the start, one step further,

    q_0 = S q_N - (step, 0, ...),   p_0 = S p+_N         S: left <-> right

Start and end are unknown, so is everything between; the time and the length of the step are given.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Block
from dalembert.control.contacts import Touch
from dalembert.control.dmocc import dmocc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Capsule, Model, Plane
from dalembert.runs.trajectory import Trajectory

THIGH, SHIN = 0.4, 0.4
FOOT = (0, 0, -THIGH - SHIN)
STEP, T, LIFT, FRICTION = 0.4, 0.5, 0.04, 0.7
EXCHANGE = [0, 1, 2, 5, 6, 3, 4]


def model() -> Model:
    """x and z of the hips, angle of the torso, then hip and knee of the left and of the right leg; 20 kg."""
    m = Model("biped", gravity=(0, 0, -9.81))
    m.add_shape("world", Plane())
    m.add_body("torso", 10.0, (0.3, 0.3, 0.1), com=(0, 0, 0.2), shapes=[Capsule(0.06, 0.3, position=(0, 0, 0.2), collide=False)])
    m.add_joint("plane", "planar", "world", "torso", axis=(0, -1, 0), axis2=(1, 0, 0))
    for side in ("left", "right"):
        for part, mass, above, length in (("thigh", 3.0, 0.0, THIGH), ("shin", 2.0, THIGH, SHIN)):
            inertia, middle = mass * length**2 / 12, (0, 0, -above - length / 2)
            shape = Capsule(0.03, length - 0.06, position=middle, collide=False)
            m.add_body(f"{side} {part}", mass, (inertia, inertia, 0.1 * inertia), com=middle, shapes=[shape])
        m.add_joint(f"{side} hip", "revolute", "torso", f"{side} thigh", axis=(0, -1, 0), limits=(-1.5, 1.5))
        m.add_joint(f"{side} knee", "revolute", f"{side} thigh", f"{side} shin", (0, 0, -THIGH), axis=(0, -1, 0), limits=(-2.0, -0.02))
        for part in ("hip", "knee"):
            m.add_motor(f"{side} {part} motor", f"{side} {part}", limit=100.0)
    return m


def exchanged(made: Any) -> list[Block]:
    """The end is the start of the next step. The height of the hips is left out: feet that stand on the ground at both ends say it."""
    machine, chain, S = made.machine, made.chain, EXCHANGE
    a, b, p, r = (ca.SX.sym(x, 7) for x in "abpr")
    rows = ca.vertcat(b[0] - STEP - a[0], *(b[S[i]] - a[i] for i in range(2, 7)), *(r[S[i]] - p[i] for i in range(7)))
    index = np.concatenate([chain.q[0], chain.q[-1], chain.p[0], chain.p_after[chain.N]])
    names = [f"{n} of the next step" for i, n in enumerate((*machine.q_names, *machine.v_names)) if i != 1]
    return [Block("gait", ca.vertcat(a, b, p, r), index, rows=rows, names=names, places=["both ends"])]


def swing(made: Any) -> None:
    """The swing foot is above a hump between the nodes of contact, the stance foot begins at x = 0."""
    machine, chain = made.machine, made.chain
    q = ca.SX.sym("q", machine.nq)
    left, right = machine.formulas.points(q, [("left shin", FOOT), ("right shin", FOOT)])
    made.add(Block("place", q, chain.q[0], rows=left[0], names=["place of the stance foot"], places=["node 0"]))
    hump = right[2] - LIFT * (1 - ((right[0] - left[0]) / STEP) ** 2)
    nodes = np.arange(1, chain.N)
    places = [f"node {k}" for k in nodes]
    made.add(Block("swing", q, chain.q[chain.nodes[nodes]], rows=hump, upper=np.inf, names=["height of the swing foot"], places=places))


def first_guess(N: int) -> Array:
    """Legs swing evenly with bent knees."""
    s = np.linspace(0.0, 1.0, N + 1)
    turn, bend = 0.28 * (1 - 2 * s), 0.25 + 0.5 * np.sin(np.pi * s)
    z = (THIGH + SHIN) * np.cos(turn) - 0.03
    rows = [STEP * (s - 0.5), z, 0 * s, turn + 0.1, 0 * s - 0.2, -turn + 0.5 * bend, -bend]
    return np.stack(rows, axis=1)


def build(N: int = 30, **more: Any) -> Any:
    """One step of 0.4 m in 0.5 s."""
    contacts = [Touch("left shin", 0, point=FOOT, hold=N, friction=FRICTION), Touch("right shin", N, point=FOOT, friction=FRICTION)]
    given: dict[str, Any] = {
        "contacts": contacts, "h": T / N, "restitution": 0.0, "periodic": exchanged, "extras": [swing], "clearance": False,
        "guess": first_guess(N), "cost": {"effort": 0.01},
    }  # fmt: skip
    return dmocc(model(), N, None, None, **{**given, **more})


def walk(solution: Any, steps: int) -> Trajectory:
    """So many steps of the gait as one trajectory, legs exchanged from step to step."""
    t, q, v, own = [], [], [], np.arange(7)
    for k in range(steps):
        n = len(solution.t) if k == steps - 1 else len(solution.t) - 1
        t.append(solution.t[:n] + k * solution.t[-1])
        q.append(solution.q[:n, own] + k * STEP * np.eye(7)[0])
        v.append(solution.v[:n, own])
        own = own[EXCHANGE]
    return Trajectory.of_nodes(solution.problem.machine.whole, np.concatenate(t), np.concatenate(q), np.concatenate(v))


def check(solution: Any) -> list[Finding]:
    """The next step begins where this one ends; feet stick within their cones; the impact takes energy."""
    machine, S = solution.problem.machine, EXCHANGE
    moved = solution.q[-1][S] - np.eye(7)[0] * STEP
    apart = float(np.abs(moved - solution.q[0]).max())
    speed = float(np.abs(solution.v_after[-1][S] - solution.v[0]).max())
    hit = solution.impacts[-1]
    evidence = solution.verify(true_motion=False).contacts
    before, after = (float(machine.reduced.kinetic_energy(solution.q[-1], v)) for v in (solution.v[-1], solution.v_after[-1]))
    return [
        Finding("next step apart by, rad or m", apart, "<= 1e-8", apart <= 1e-8),
        Finding("and by, rad/s or m/s", speed, "<= 1e-7", speed <= 1e-7),
        Finding("swing foot comes down at, m/s", hit.before, "< 0", hit.before < 0.0),
        Finding("slip of the stance foot, m", evidence.slip, "<= 1e-8", evidence.slip <= 1e-8),
        Finding("beyond the cone of friction, N s", evidence.cone, "<= 1e-8", evidence.cone <= 1e-8),
        Finding("energy that the impact gives, J", after - before, "<= 0", after <= before),
    ]


register(PlanScene("biped", "one step of a gait of a biped, with stance, impact and exchange of legs", build, check))
