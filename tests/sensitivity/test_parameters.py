"""Derivatives by the numbers of a machine, against differences of steps of machines with other numbers."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.runs.plan import Plan
from dalembert.sensitivity.step import Start, take

PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
NAMES = (
    "base.mass", "arm.mass", "arm.inertia", "arm.com", "slug.com", "ball.damping", "ball.stiffness", "hinge.armature", "hinge.stiffness",
    "slide.damping", "gravity",
)  # fmt: skip


def machine():
    m = dal.Model("machine", gravity=(0.3, -0.2, -9))
    m.add_body("base", 2.0, (0.2, 0.3, 0.25), com=(0.1, 0.05, -0.02), pose=((0.1, 0.2, 0.3), (1, 0, 0, 0)))
    inertia = [[0.1, 0.01, 0.02], [0.01, 0.12, 0.005], [0.02, 0.005, 0.08]]
    m.add_body("arm", 1.0, inertia, com=(0.02, 0, -0.3), pose=((0.2, 0.2, 0.1), (np.cos(0.2), np.sin(0.2), 0, 0)))
    m.add_joint("ball", "spherical", "base", "arm", anchor=(0.2, 0.2, 0.1), damping=0.1, stiffness=0.7)
    m.add_body("plate", 0.3, (0.01, 0.02, 0.03), com=(0, 0.1, 0), pose=((0.2, 0.3, 0.1), (1, 0, 0, 0)))
    m.add_joint("weld", "fixed", "arm", "plate", anchor=(0.2, 0.2, 0.1))
    m.add_body("tool", 0.5, (0.02, 0.03, 0.01), com=(0.1, 0, 0), pose=((0.3, 0.2, -0.4), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "arm", "tool", (0.3, 0.2, -0.4), (0, 1, 0.2), damping=0.05, stiffness=2.0, armature=0.03)
    m.add_body("slug", 0.4, (0.02, 0.03, 0.01), pose=((0.3, 0.2, -0.6), (1, 0, 0, 0)))
    m.add_joint("slide", "prismatic", "tool", "slug", (0.3, 0.2, -0.6), (1, 0, 0), stiffness=5.0, damping=0.02)
    return m.frozen()


def value(m, name):
    if name == "gravity":
        return np.array(m.gravity)
    part, what = name.split(".")
    owner = next(x[part] for x in (m._bodies, m._joints, m._forces) if part in x)
    return np.array(getattr(owner, what), dtype=float)


def units(name, x):
    if name.endswith("inertia"):
        for i, j in PAIRS:
            unit = np.zeros((3, 3))
            unit[i, j] = unit[j, i] = 1.0
            yield unit
    else:
        yield from (np.eye(3) if x.ndim else [np.array(1.0)])


def differences(m, names, q, v, tau, h, stepper, size=1e-4):
    """Of order 6, of the simulator."""

    def at(name, x):
        return take(Plan.of(m.with_values({name: x if x.ndim else float(x)}), stepper, h), Start(q, v, tau, 0.0))

    base, found = take(Plan.of(m, stepper, h), Start(q, v, tau, 0.0)), []
    for name in names:
        x = value(m, name)
        for unit in units(name, x):
            total = 0.0
            for c, w in ((1, 45.0), (2, -9.0), (3, 1.0)):
                for s in (1, -1):
                    there = at(name, x + s * c * size * unit)
                    total += s * w * np.concatenate([m.difference(base.q, there.q), there.v - base.v]) / (60 * size)
            found.append(total)
    return np.array(found).T


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "symplectic-euler", "null-space"])
def test_masses_inertias_dampers_springs_rotors_and_gravity(stepper):
    m, rng = machine(), np.random.default_rng(1)
    q, v, tau = m.integrate(m.neutral(), 0.3 * rng.standard_normal(m.nv)), rng.standard_normal(m.nv), rng.standard_normal(m.nv)
    found = dal.derivatives(m, q, v, tau, 0.01, stepper, params=NAMES)
    judge = differences(m, NAMES, q, v, tau, 0.01, stepper)
    assert found.C.shape == (2 * m.nv, 22) and len(found.parameters) == 22
    assert found.parameters[2:5] == ("arm.inertia.xx", "arm.inertia.yy", "arm.inertia.zz")
    # differences over 1e-4 of velocities of size 1, known to 1e-13: 1e-9 absolute; the smallest columns are 1e-2
    assert np.abs(found.C - judge).max() < 1e-8


def test_springs_dampers_and_wrenches():
    m = machine().copy()
    m.add_force(dal.Spring("base", "slug", (0.1, 0, 0), (0, 0.1, 0), stiffness=3.0, rest_length=0.2, damping=0.2), name="spring")
    m.add_force(dal.Damper("arm", angular=0.1, linear=0.3), name="oil")
    m.add_force(dal.Wrench("tool", force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, 0.3), point=(0.1, 0, 0)), name="jet")
    m.add_force(dal.Wrench("slug", force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, 0.3), frame="world"), name="wind")
    m, rng = m.frozen(), np.random.default_rng(2)
    q, v, tau = m.integrate(m.neutral(), 0.3 * rng.standard_normal(m.nv)), rng.standard_normal(m.nv), rng.standard_normal(m.nv)
    names = (
        "spring.stiffness",
        "spring.rest_length",
        "spring.damping",
        "oil.angular",
        "oil.linear",
        "jet.force",
        "jet.torque",
        "wind.force",
    )
    found = dal.derivatives(m, q, v, tau, 0.01, params=names)
    judge = differences(m, names, q, v, tau, 0.01, "midpoint")
    assert found.parameters[5:8] == ("jet.force.x", "jet.force.y", "jet.force.z")
    assert np.abs(judge).max(axis=0).min() > 1e-4 and np.abs(found.C - judge).max() < 1e-8
    with pytest.raises(dal.UnsupportedError, match="where a damper acts"):
        dal.derivatives(m, params="arm.com")


def test_loops():
    scene = dal.scenes.find("four-bar")
    m, run = scene.model().frozen(), scene.simulate(t_end=30 * scene.h, stepper="midpoint")
    name = f"{m.bodies[0].name}.mass"
    found = dal.derivatives(m, run.q[-1], run.v[-1], None, scene.h, params=name)
    judge = differences(m, (name,), run.q[-1], run.v[-1], np.zeros(m.nv), scene.h, "midpoint")
    assert np.abs(judge).max() > 1e-4 and np.abs(found.C - judge).max() < 1e-9


def test_a_mass_point_on_a_spring_by_hand():
    """Midpoint: m (v+ - v)/h = -k (x + x+)/2, so that v+ by m is h k (x + x+)/(2 m^2) / (1 + h^2 k/(4 m))."""
    m = dal.Model("oscillator", gravity=(0, 0, 0))
    m.add_body("slug", 2.0, (1, 1, 1))
    m.add_joint("slide", "prismatic", "world", "slug", axis=(1, 0, 0), stiffness=30.0)
    found = dal.derivatives(m, [0.4], [0.7], None, 0.05, params=("slug.mass", "slide.stiffness"))
    x, mass, k, h = 0.5 * (0.4 + found.q_next[0]), 2.0, 30.0, 0.05
    stiff = 1 + h * h * k / (4 * mass)
    assert np.allclose(found.C_v[0], [h * k * x / mass**2 / stiff, -h * x / mass / stiff], rtol=1e-12)
    assert np.allclose(found.C_q[0], 0.5 * h * found.C_v[0], rtol=1e-12)


def test_names_that_are_not_known_are_named():
    m = machine()
    with pytest.raises(dal.UnknownNameError, match=r"did you mean 'arm\.mass'"):
        dal.derivatives(m, params="arm.mas")
    with pytest.raises(dal.UnsupportedError, match=r"'slide\.limits' is no parameter.*arm\.mass"):
        dal.derivatives(m, params=("slide.limits",))
    with pytest.raises(dal.OptionError, match="expected names"):
        dal.derivatives(m, params=(3,))
