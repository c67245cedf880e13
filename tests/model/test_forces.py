"""A new force is one file. This one brings two of them, a spring to a fixed point that grows stiffer and a drag that grows with the square
of the speed, and runs them as those of the library. Judges: equations of motion written out by hand, integrated by SciPy; formulas.
"""

import math
import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.kernels._fields import Part
from dalembert.kernels._jit import slotted
from dalembert.kernels.smallmat import dot, load3, scale, sub
from dalembert.kernels.tree.load_layout import APPLY_SIGNATURE, ENERGY_SIGNATURE, LINK, load_record
from dalembert.kernels.tree.loads import point_in_world, point_velocity, push, to_link
from dalembert.model import forces
from dalembert.model.forces import Force, Kernels, acts_on, at_point, number, register, vector
from dalembert.model.twists import turns
from dalembert.runs.plan import Plan

# the first force: F = -(k + c |x|^2) x, V = k |x|^2 / 2 + c |x|^4 / 4, x from a fixed point of the world ------------------------------

TETHER, (T_POINT, T_ANCHOR, T_STIFFNESS, T_CUBIC, T_SIZE) = load_record(
    Part("point", 3, "of the link"), Part("anchor", 3, "in the world"), Part("stiffness", 1, "N/m"), Part("cubic", 1, "N/m^3")
)


@slotted(APPLY_SIGNATURE)
def pull(system, work, first, last):
    """F at the point."""
    for at in range(first, last, T_SIZE):
        i, point = int(system[at + LINK]), load3(system, at + T_POINT)
        x = sub(point_in_world(work, i, point), load3(system, at + T_ANCHOR))
        force = scale(-system[at + T_STIFFNESS] - system[at + T_CUBIC] * dot(x, x), x)
        push(work, i, point, to_link(work, i, force), (0.0, 0.0, 0.0))


@slotted(ENERGY_SIGNATURE)
def tether_energy(system, work, first, last):
    """V"""
    total = 0.0
    for at in range(first, last, T_SIZE):
        x = sub(point_in_world(work, int(system[at + LINK]), load3(system, at + T_POINT)), load3(system, at + T_ANCHOR))
        total += 0.5 * system[at + T_STIFFNESS] * dot(x, x) + 0.25 * system[at + T_CUBIC] * dot(x, x) ** 2
    return total


@register
@dataclass(frozen=True)
class Tether(Force):
    """A point of a body is drawn to a point of the world."""

    body: str = acts_on()
    point: Any = at_point()
    anchor: Any = at_point()
    stiffness: float = number(units="N/m", least=0.0)
    cubic: float = number(units="N/m^3", least=0.0)
    kind: ClassVar[str] = "tether"
    kernels: ClassVar[Kernels] = Kernels(pull, tether_energy)
    record: ClassVar[Any] = TETHER
    drives: ClassVar[bool] = False

    def loads(self, places, model):
        place = places[self.body]
        own = {"anchor": self.anchor, "stiffness": self.stiffness, "cubic": self.cubic}
        return [] if place.link < 0 else [self.load((place.link,), point=place.at(self.point), **own)]

    def stored(self, where):
        square = np.sum((where(self.body, self.point) - np.array(self.anchor)) ** 2, axis=-1)
        return 0.5 * self.stiffness * square + 0.25 * self.cubic * square**2

    def kept(self, fixed, where):
        return None if self.body in fixed else turns(np.array(self.anchor))


# the second force: F = -c |v - wind| (v - wind) --------------------------------------------------------------------------------------

AIR, (A_POINT, A_WIND, A_DRAG, A_SIZE) = load_record(
    Part("point", 3, "of the link"), Part("wind", 3, "world axes"), Part("drag", 1, "N s^2/m^2")
)


@slotted(APPLY_SIGNATURE)
def blow(system, work, first, last):
    """F at the point."""
    for at in range(first, last, A_SIZE):
        i, point = int(system[at + LINK]), load3(system, at + A_POINT)
        v = sub(point_velocity(work, i, point), load3(system, at + A_WIND))
        push(work, i, point, to_link(work, i, scale(-system[at + A_DRAG] * math.sqrt(dot(v, v)), v)), (0.0, 0.0, 0.0))


@register
@dataclass(frozen=True)
class Air(Force):
    """Air that moves as a whole, and drags a point of a body along."""

    body: str = acts_on()
    point: Any = at_point()
    wind: Any = vector(units="m/s")
    drag: float = number(units="N s^2/m^2", least=0.0)
    kind: ClassVar[str] = "air"
    feature: ClassVar[str] = "air drag"
    kernels: ClassVar[Kernels] = Kernels(blow)
    record: ClassVar[Any] = AIR

    def loads(self, places, model):
        place = places[self.body]
        return [] if place.link < 0 else [self.load((place.link,), point=place.at(self.point), wind=self.wind, drag=self.drag)]


OWN = {f.kind: forces._base.REGISTERED.pop(f.kind) for f in (Tether, Air)}


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    """To these tests and to no others."""
    for kind, force in OWN.items():
        monkeypatch.setitem(forces._base.REGISTERED, kind, force)


# the machine: a cart with a pendulum; (x, angle), tip at (x + L sin, -L cos) ----------------------------------------------------------

CART, ROD, LENGTH, ARM, SPIN, G = 2.0, 1.0, 1.2, 0.5, 0.1, 9.81
ANCHOR, STIFFNESS, CUBIC = np.array([0.4, 0.0, -0.3]), 6.0, 9.0
WIND, DRAG = np.array([0.8, 0.0, 0.2]), 0.3
Q0, V0 = np.array([0.1, 0.7]), np.array([-0.3, 1.1])


def cart(*acting):
    m = dal.Model("cart", gravity=(0, 0, -G))
    m.add_body("cart", CART, (1, 1, 1))
    m.add_body("rod", ROD, (SPIN, SPIN, SPIN), com=(0, 0, -ARM))
    m.add_joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0))
    m.add_joint("hinge", "revolute", "cart", "rod", axis=(0, -1, 0))
    for force in acting:
        m.add_force(force)
    return m


def tether():
    return Tether("rod", (0, 0, -LENGTH), ANCHOR, STIFFNESS, CUBIC)


def air():
    return Air("rod", (0, 0, -LENGTH), WIND, DRAG)


def tip(x, angle):
    return np.stack([x + LENGTH * np.sin(angle), 0.0 * x, -LENGTH * np.cos(angle)], axis=-1)


def by_hand(t, y, tethered, windy):
    """Lagrange's equations of the cart."""
    x, angle, u, w = y
    s, c = math.sin(angle), math.cos(angle)
    M = np.array([[CART + ROD, ROD * ARM * c], [ROD * ARM * c, SPIN + ROD * ARM**2]])
    J = np.array([[1.0, LENGTH * c], [0.0, 0.0], [0.0, LENGTH * s]])
    force = np.zeros(3)
    if tethered:
        d = tip(x, angle) - ANCHOR
        force -= (STIFFNESS + CUBIC * d @ d) * d
    if windy:
        v = J @ [u, w] - WIND
        force -= DRAG * np.linalg.norm(v) * v
    right = np.array([ROD * ARM * w * w * s, -ROD * G * ARM * s]) + J.T @ force
    return np.concatenate([[u, w], np.linalg.solve(M, right)])


def judge(t_end, tethered, windy):
    """q and v at the end, to 1e-11."""
    y = solve_ivp(by_hand, (0, t_end), [*Q0, *V0], "DOP853", rtol=1e-13, atol=1e-13, args=(tethered, windy)).y[:, -1]
    return y


@pytest.mark.parametrize(("stepper", "order", "coarse"), [("midpoint", 2, 0.02), ("trapezoidal", 2, 0.02), ("mk4", 4, 0.04)])
@pytest.mark.parametrize("tethered", [True, False])
def test_motion_is_that_of_equations_written_by_hand(stepper, order, coarse, tethered):
    m = cart(tether(), air()) if tethered else cart(air())
    right, errors, steps = judge(1.0, tethered, True), [], coarse * 0.5 ** np.arange(4)
    for h in steps:
        traj = dal.simulate(m, stepper, h=h, t_end=1.0, q0=Q0, v0=V0)
        errors.append(np.abs(np.concatenate([traj.q[-1], traj.v[-1]]) - right).max())
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.1, errors


def test_energy_is_stored_and_kept():
    m = cart(tether())
    traj = dal.simulate(m, "midpoint", h=0.005, t_end=5.0, q0=Q0, v0=V0)
    x, angle = traj.q.T
    square = np.sum((tip(x, angle) - ANCHOR) ** 2, axis=-1)
    formula = -ROD * G * ARM * np.cos(angle) + 0.5 * STIFFNESS * square + 0.25 * CUBIC * square**2
    np.testing.assert_allclose(traj.potential, formula, rtol=0, atol=1e-13 * np.abs(formula).max())  # round-off of positions
    found = {item.name: item for item in traj.report().items}
    assert found["energy"].verdict == "pass"
    assert traj.report().verdict == "pass"


def test_work_of_a_force_without_potential_is_counted():
    traj = dal.simulate(cart(tether(), air()), "midpoint", h=0.002, t_end=3.0, q0=Q0, v0=V0)
    found = {item.name: item for item in traj.report().items}
    assert found["energy balance"].verdict == "pass"
    assert traj.account["wrench"].sum() < -0.1  # the air takes energy, in the column that the force names
    # the same work from the nodes by the trapezoidal rule: both are of order 2, (h rate)^2 = (0.002 * 10)^2 relative
    _, angle, u, w = *traj.q.T, *traj.v.T
    v = np.stack([u + LENGTH * np.cos(angle) * w, 0 * u, LENGTH * np.sin(angle) * w], axis=-1)
    blown = v - WIND
    power = -DRAG * np.linalg.norm(blown, axis=-1) * np.sum(blown * v, axis=-1)
    assert traj.work[-1] == pytest.approx(np.trapezoid(power, traj.t), rel=4e-4)


@pytest.mark.nojit
def test_momentum_of_the_motions_that_it_keeps():
    m = dal.Model("free", gravity=(0, 0, 0))
    m.add_body("a", 1.0, (0.1, 0.2, 0.25))
    m.add_force(Tether("a", (0.2, 0, 0.1), ANCHOR, STIFFNESS, CUBIC))
    traj = dal.simulate(m, "midpoint", h=0.01, t_end=5.0, v0=(0.3, 1.0, -0.2, 0.5, 0.1, 0.0))
    momentum = next(item for item in traj.report().items if item.name == "momentum")
    assert momentum.verdict == "pass"
    assert "L about a fixed point" in momentum.text
    linear = traj.momentum[:, 3:]
    about = traj.momentum[:, :3] - np.cross(ANCHOR, linear)
    assert np.abs(about - about[0]).max() < 1e-12  # 500 steps of momenta of order 1
    assert np.abs(linear - linear[0]).max() > 0.1


def test_what_is_ignored_does_not_act():
    m = cart(tether(), air())
    bare = dal.simulate(cart(), "midpoint", h=0.01, t_end=0.5, q0=Q0, v0=V0)
    for names in (("tether", "air drag"), ("air drag", "tether")):
        left = dal.simulate(m, "midpoint", h=0.01, t_end=0.5, q0=Q0, v0=V0, ignore=names)
        np.testing.assert_array_equal(left.q, bare.q)
    assert [type(f) for f in m.without("tether").forces] == [Air]
    with pytest.raises(dal.UnknownNameError, match="tether"):
        m.without("tethr")


def test_a_stepper_that_does_not_know_it_says_so():
    m = dal.Model("free")
    m.add_body("a", 1.0, (0.1, 0.2, 0.25))
    m.add_force(Tether("a", stiffness=1.0))
    with pytest.raises(dal.UnsupportedError, match=r"'cayley' does not handle tether .*ignore=\('tether',\)"):
        dal.simulate(m, "cayley", h=0.01, t_end=0.1)


def test_saved_and_loaded(tmp_path):
    m = cart(tether(), air())
    traj = dal.simulate(m, "midpoint", h=0.01, t_end=0.5, q0=Q0, v0=V0, save=tmp_path / "run.h5")
    again = dal.load(tmp_path / "run.h5")
    assert again.model.forces == m.forces
    np.testing.assert_array_equal(again.energy, traj.energy)
    assert str(again.report()) == str(traj.report())
    longer = dal.resume(tmp_path / "run.h5", t_end=1.0)
    np.testing.assert_array_equal(longer.q, dal.simulate(m, "midpoint", h=0.01, t_end=1.0, q0=Q0, v0=V0).q)


def test_a_file_with_a_force_that_nobody_knows_is_refused_by_name(monkeypatch):
    data = cart(tether()).to_dict()
    monkeypatch.delitem(forces._base.REGISTERED, "tether")
    with pytest.raises(dal.UnknownNameError, match="kind of force 'tether'"):
        dal.Model.from_dict(data)


@pytest.mark.nojit
def test_other_numbers():
    m = cart(tether())
    assert {"tether1.stiffness", "tether1.cubic"} <= set(m.value_names)
    assert "tether1.point" not in m.value_names
    other = m.with_values({"tether1.cubic": 0.0})
    built = cart(Tether("rod", (0, 0, -LENGTH), ANCHOR, STIFFNESS, 0.0))
    runs = [dal.simulate(x, "midpoint", h=0.01, t_end=0.3, q0=Q0, v0=V0) for x in (other, built)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    with pytest.raises(dal.ModelError, match=r"tether on body 'rod': cubic is -1.0; expected a finite number >= 0"):
        m.with_values({"tether1.cubic": -1})


def test_arrays_do_not_leave_the_process():
    """They hold where kernels are; plans and models are pickled without."""
    plan = Plan.of(cart(tether()), "midpoint", 0.01)
    assert len(plan.arrays())
    again = pickle.loads(pickle.dumps(plan))
    assert not again._made
    assert not (again.system.kept("tree") or again.acting.kept("tree"))
    np.testing.assert_array_equal(again.arrays(), plan.arrays())


def test_two_forces_of_one_name_are_refused():
    for double in ({"kind": "tether"}, {"kind": "another", "feature": "tether"}, {"kind": "another", "feature": "damping"}):
        with pytest.raises(dal.ModelError, match="expected another name"):
            register(type("Double", (Force,), double))


@pytest.mark.nojit
def test_a_kernel_that_cannot_be_compiled_raises():
    @slotted(APPLY_SIGNATURE)
    def broken(system, work, first, last):
        work[first] = "three"

    @dataclass(frozen=True)
    class Broken(Air):
        kind: ClassVar[str] = "broken"
        kernels: ClassVar[Kernels] = Kernels(broken)

    m = cart(air())
    m._forces["air1"] = Broken("rod")
    with pytest.raises(Exception, match="three"):
        m.forward_dynamics(Q0, V0)


# the contract of all forces -----------------------------------------------------------------------------------------------------------

SAMPLES = {
    "wrench": [
        dal.Wrench("b", (1, 2, 3), (0.3, 0.2, -1), (0.1, 0.2, 0.3)),
        dal.Wrench("a", (1, -2, 3), (0.3, 0.2, 1), (0.1, 0, 0.3), "world"),
    ],
    "damper": [dal.Damper("a", 0.7, 1.3), dal.Damper("b", 0.2, 0.4)],
    "spring": [
        dal.Spring("a", "b", (0.1, 0, 0.2), (0, 0.3, 0), 5.0, 0.3, 0.8),
        dal.Spring("b", "world", (0.1, 0, 0.2), (0.4, 0.3, 0), 5.0, 0.1),
    ],
    "tether": [Tether("b", (0.1, 0.2, 0.3), ANCHOR, STIFFNESS, CUBIC)],
    "air": [Air("b", (0.1, 0.2, 0.3), WIND, DRAG)],
}
ALL = [pytest.param(f, id=f"{kind}-{i}") for kind, found in SAMPLES.items() for i, f in enumerate(found)]


def floating(force):
    """A free body and one on a ball joint, both with the centre of mass off the frame."""
    m = dal.Model("pair", gravity=(0, 0, 0))
    m.add_body("a", 1.5, (0.2, 0.3, 0.4), com=(0.1, -0.05, 0.2), pose=((0.1, 0.2, 0.3), (1, 0, 0, 0)))
    m.add_body("b", 0.8, (0.1, 0.15, 0.2), com=(0, 0.1, -0.3), pose=((0.5, 0.2, -0.4), (1, 0, 0, 0)))
    m.add_joint("ball", "spherical", "a", "b", anchor=(0.3, 0.2, 0.0))
    m.add_force(force)
    rng = np.random.default_rng(3)
    return m, m.random(3), rng.normal(size=m.nv)


def joint_forces(m, q, v):
    """What the loads are as joint forces, by the kernels."""
    zero = np.zeros(m.nv)
    return m.inverse_dynamics(q, v, zero, passive=False) - m.inverse_dynamics(q, v, zero)


def test_every_force_has_a_sample():
    assert set(SAMPLES) == {kind for kind, f in forces.kinds().items() if f.writable}


@pytest.mark.nojit
@pytest.mark.parametrize("force", ALL)
def test_kernels_and_formulas_in_numpy_agree(force):
    """Energy, gradient, and where the class tells them, force and drag."""
    from dalembert.model.kinematics import potential_energy
    from dalembert.solvability.tree_loads import held_forces, with_drag
    from dalembert.solvability.tree_step import Terms

    m, q, v = floating(force)
    at_rest, moving = joint_forces(m, q, np.zeros(m.nv)), joint_forces(m, q, v)
    assert m.potential_energy(q) == pytest.approx(potential_energy(m, q), rel=1e-14, abs=1e-14)
    if force.has_potential():
        e = 1e-5  # central differences: e^2 times third derivatives below 1e3
        slope = [(potential_energy(m, m.integrate(q, e * d)) - potential_energy(m, m.integrate(q, -e * d))) / (2 * e) for d in np.eye(m.nv)]
        np.testing.assert_allclose(at_rest, -np.array(slope), atol=1e-7)
    if force.proved:
        np.testing.assert_allclose(at_rest, held_forces(m, q), atol=1e-13)
        K = with_drag(m, Terms(*(np.zeros((m.nv, m.nv)),) * len(Terms._fields)), q).drag
        np.testing.assert_allclose(moving - at_rest, -K @ v, atol=1e-12)


@pytest.mark.parametrize("force", ALL)
def test_steps_keep_the_books_of_every_force(force):
    """Change of momentum = impulse to round-off, and of energy = work to the order, whatever acts."""
    m, q, v = floating(force)
    report = dal.simulate(m, "midpoint", h=0.005, t_end=0.5, q0=q, v0=v).report()
    found = {item.name: item.verdict for item in report.items}
    assert report.verdict == "pass", report
    assert {"momentum", "momentum balance"} & set(found)
    assert {"energy", "energy balance"} & set(found)


@pytest.mark.parametrize("force", ALL)
def test_every_force_is_plain_data(force):
    data = force.to_dict()
    assert forces.from_dict(data) == force
    assert set(force.values()) <= set(data)
    assert set(force.units()) <= set(data)
    assert pickle.loads(pickle.dumps(force)) == force
    assert force.without(force.feature) is None
    assert force.without("gravity") == force
