"""More public calls with hostile values: groups, formulas, directors, derivatives, comparisons, distances, trajectories, studies, files."""

import inspect

import numpy as np
from tests.robustness.hostile import FROZEN, RUN, TOP, mostly, value

import dalembert as dal

ONE = np.eye(3)
GROUPS = {
    dal.so3: {"w": np.full(3, 0.1), "R": ONE, "S": np.zeros((3, 3))},
    dal.se3: {"xi": np.full(6, 0.1), "g": np.eye(4), "X": np.zeros((4, 4))},
    dal.se2: {"xi": np.full(3, 0.1), "g": ONE, "X": np.zeros((3, 3))},
    dal.quat: {"q": np.array([1.0, 0, 0, 0]), "p": np.array([1.0, 0, 0, 0]), "w": np.full(3, 0.1), "R": ONE},
}
OSCILLATOR = dal.Lagrangian(1, lambda q, v, p: 0.5 * v[0] ** 2 - 0.5 * p["k"] * q[0] ** 2, params={"k": 4.0})
DIRECTORS = dal.Directors(FROZEN)
STUDY = dal.ensemble(FROZEN, {"q0": [[0.1], [0.2]]}, "midpoint", h=0.01, t_end=0.02, executor="here")


def groups(rng):
    """Exponentials, logarithms, tangent maps."""
    group = list(GROUPS)[rng.integers(4)]
    function = getattr(group, group.__all__[rng.integers(len(group.__all__))])
    function(*(mostly(rng, GROUPS[group][parameter], 0.3) for parameter in inspect.signature(function).parameters))


def lagrangian(rng):
    """Formulas."""
    formula = mostly(rng, lambda q, v: 0.5 * v[0] ** 2, 0.8)
    which = rng.integers(4)
    if which == 0:
        dal.Lagrangian(mostly(rng, 1, 0.7), formula, params=mostly(rng, None, 0.8), names=mostly(rng, None, 0.8))
    elif which == 1:
        dal.Lagrangian(1, formula, holonomic=mostly(rng, None, 0.7), force=mostly(rng, None, 0.7), name=mostly(rng, "", 0.7))
    elif which == 2:
        OSCILLATOR.with_values({("k", "m")[rng.integers(2)]: value(rng)})
    else:
        dal.simulate(OSCILLATOR, mostly(rng, "midpoint", 0.9), h=mostly(rng, 0.01), t_end=0.02, q0=mostly(rng, [0.1]), progress=False)


def directors(rng):
    """Machines in director coordinates."""
    if rng.random() < 0.5:
        dal.Directors(mostly(rng, FROZEN), mostly(rng, None))
    else:
        dal.simulate(DIRECTORS, mostly(rng, None), h=mostly(rng, 0.01), t_end=0.02, q0=mostly(rng, None), progress=False)


def derivatives(rng):
    """Of a step."""
    dal.derivatives(
        mostly(rng, FROZEN, 0.9), mostly(rng, [0.1], 0.7), mostly(rng, [0.0], 0.7), mostly(rng, None, 0.8), h=mostly(rng, 0.01, 0.8),
        stepper=mostly(rng, "midpoint", 0.9), params=mostly(rng, (), 0.8), t=mostly(rng, 0.0, 0.9),
    )  # fmt: skip


def comparisons(rng):
    """compare, work_precision."""
    if rng.random() < 0.5:
        dal.compare(
            FROZEN, mostly(rng, [("midpoint", 0.01), ("mk4", 0.01)], 0.6), mostly(rng, 0.02), q0=mostly(rng, [0.1]),
            every=mostly(rng, None, 0.8), progress=False,
        )  # fmt: skip
    else:
        dal.work_precision(
            FROZEN, mostly(rng, ["midpoint"]), mostly(rng, [0.01, 0.005]), mostly(rng, 0.02), q0=mostly(rng, [0.1]), progress=False
        )


def regulators(rng):
    """lqr."""
    dal.control.lqr(
        FROZEN, mostly(rng, [0.0]), mostly(rng, np.eye(2)), mostly(rng, np.eye(1)), h=mostly(rng, 0.01), inputs=mostly(rng, None)
    )


def distances(rng):
    """Signed distances of shapes."""
    square = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    dal.contact.sshlp(mostly(rng, square), mostly(rng, square + 2.0), beta=mostly(rng, "nearest", 0.9), starts=mostly(rng, 0, 0.9))


def trajectories(rng):
    """Methods of a run."""
    which = rng.integers(5)
    if which == 0:
        RUN.save(mostly(rng, "run.h5"), overwrite=mostly(rng, True))
    elif which == 1:
        dal.Trajectory.of_nodes(mostly(rng, FROZEN, 0.8), mostly(rng, RUN.t), mostly(rng, RUN.q), mostly(rng, RUN.v))
    elif which == 2:
        RUN.report()
    elif which == 3:
        RUN.at(value(rng))
    else:
        dal.resume(value(rng), value(rng))


def studies(rng):
    """Studies, their rows, their files."""
    which = rng.integers(5)
    if which == 0:
        dal.rerun(mostly(rng, STUDY), mostly(rng, 1), every=mostly(rng, 1, 0.8))
    elif which == 1:
        STUDY[value(rng)]
    elif which == 2:
        STUDY.save(mostly(rng, "study.h5"), overwrite=mostly(rng, True))
    elif which == 3:
        dal.ensemble(
            FROZEN, {"q0": [[0.1]]}, mostly(rng, "midpoint", 0.9), h=0.01, t_end=0.02, executor=mostly(rng, "here", 0.8),
            observe=mostly(rng, None), q0=mostly(rng, None), v0=mostly(rng, None), every=mostly(rng, 1), workers=mostly(rng, None),
        )  # fmt: skip
    else:
        o = dal.observers
        made = (o.Statistics, o.Histogram, o.Section, o.Basin)[rng.integers(4)]
        made(value(rng), *(mostly(rng, x) for x in {o.Histogram: ([0, 1],), o.Basin: (1.0,)}.get(made, ())))


def shapes_of_terrain(rng):
    """Planes, meshes, height fields."""
    which = rng.integers(3)
    if which == 0:
        dal.HeightField(mostly(rng, np.zeros((3, 3))), mostly(rng, (1.0, 1.0)), mostly(rng, 1.0))
    elif which == 1:
        dal.Mesh(mostly(rng, np.eye(4)[:, :3]), mostly(rng, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]))
    else:
        dal.Plane(position=mostly(rng, (0, 0, 0)), quaternion=mostly(rng, (1, 0, 0, 0)), friction=mostly(rng, 1.0))


def parts(rng):
    """Forces, motors, monitors, controls."""
    which = rng.integers(5)
    if which == 0:
        dal.Damper(mostly(rng, "rod"), mostly(rng, 0.0), mostly(rng, 0.0))
    elif which == 1:
        dal.Motor(mostly(rng, "m"), mostly(rng, "hinge"), mostly(rng, "torque"), limit=mostly(rng, None), gear=mostly(rng, 1.0))
    elif which == 2:
        dal.monitors.energy_within(mostly(rng, FROZEN), value(rng))
    elif which == 3:
        dal.compiled(value(rng))
    else:
        name = value(rng)
        dal.check_stepper("midpoin" if isinstance(name, str) and name == "midpoint" else name)  # the whole contract takes seconds


def edits(rng):
    """Numbers of machines of other kinds, and states by name."""
    if rng.random() < 0.5:
        TOP.with_values({("rotor.mass", "rotor.inertia", "tip.damping", "gravity")[rng.integers(4)]: value(rng)})
    else:
        dal.simulate(TOP, mostly(rng, "cayley", 0.9), h=0.01, t_end=0.02, q0=mostly(rng, None), v0=mostly(rng, None), progress=False)


MORE = {
    groups: 8, lagrangian: 1, directors: 1, derivatives: 2, comparisons: 1, regulators: 1, distances: 3, trajectories: 3, studies: 3,
    shapes_of_terrain: 3, parts: 4, edits: 3,
}  # fmt: skip
