"""Every kind of joint, branches and real robots, against the adaptive Lie-group method of order 8 (another kernel, another state)."""

import importlib.metadata
import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal

METHODS = ("midpoint", "trapezoidal", "null-space")
KINDS = ("free", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")
LEVEL = (1.0, 0.0, 0.0, 0.0)
HALVINGS = 2.0 ** -np.arange(4)


def pair(kind, on):
    """Two bodies, the upper one on a hinge or free, the lower one by a joint of this kind, under gravity."""
    m = dal.Model(f"{kind} on {on}", gravity=(0.5, -1.0, -4.0))
    m.add_body("upper", 1.5, (0.08, 0.06, 0.05), com=(0.05, 0.02, -0.2), pose=((0, 0, 0), LEVEL))
    m.add_body("lower", 1.0, (0.05, 0.07, 0.04), com=(-0.1, 0.05, -0.3), pose=((0, 0, -0.6), (0.8, 0, 0.6, 0)))
    if on == "free":
        m.add_joint("root", "free", "world", "upper")
    else:
        m.add_joint("root", "revolute", "world", "upper", (0, 0, 0.1), (0.6, 0.8, 0))
    if kind != "free":
        more = {"universal": {"axis2": (0.6, 0, -0.8)}}.get(kind, {})
        stiff = {"stiffness": 30.0 if kind == "prismatic" else 3.0} if kind in ("prismatic", "cylindrical") else {}
        axis = (0.8, 0, 0.6) if kind != "planar" else (0, 1, 0)
        m.add_joint("joint", kind, "upper", "lower", (0, 0, -0.5), axis, armature=0.01 if kind == "revolute" else 0.0, **stiff, **more)
    rng = np.random.default_rng(KINDS.index(kind) + 1)
    q0 = m.integrate(m.neutral(), 0.4 * rng.uniform(-1, 1, m.nv))
    return m.frozen(), q0, rng.uniform(-1, 1, m.nv)


@pytest.fixture(scope="module", params=[(k, on) for k in KINDS for on in ("revolute", "free") if (k, on) != ("free", "free")], ids=str)
def machine(request):
    return pair(*request.param)


@pytest.mark.parametrize("method", METHODS)
def test_order_two_on_every_kind(machine, slopes, method):
    found, errors = slopes(machine, method, 0.01 * HALVINGS, 1.0, rescue=False)
    assert np.abs(found - 2).max() < 0.1, errors


def test_order_one_on_every_kind(machine, slopes):
    """Configuration and velocity together: one of them may happen to have a small term of first order."""
    hs = 0.002 * HALVINGS
    _, errors = slopes(machine, "symplectic-euler", hs, 1.0, rescue=False)
    assert abs(np.polyfit(np.log(hs), np.log(np.linalg.norm(errors, axis=1)), 1)[0] - 1) < 0.1, errors


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize("method", METHODS)
def test_order_two_on_a_branched_tree(tree, slopes, method, retraction):
    found, errors = slopes(tree, method, 0.02 * HALVINGS, 1.0, retraction=retraction)
    assert np.abs(found - 2).max() < 0.1, errors


@pytest.mark.parametrize("method", METHODS)
def test_order_two_with_dissipation_and_wrenches(forced_tree, slopes, method):
    found, errors = slopes(forced_tree, method, 0.02 * HALVINGS, 1.0)
    assert np.abs(found - 2).max() < 0.1, errors


@pytest.mark.parametrize("method", METHODS)
def test_branched_tree_keeps_energy_in_a_band(tree, run, method):
    """Width of second order: a quarter at half the step, within a third."""
    wide, narrow = (np.ptp(run(tree, method, h, 10.0, rescue=False).energy) for h in (0.02, 0.01))
    assert 3.0 < wide / narrow < 5.4


@pytest.mark.parametrize("method", (*METHODS, "symplectic-euler"))
def test_a_fixed_joint_is_no_joint(run, method):
    """A pendulum of one body, and of the same body cut in two and welded, move alike to round-off."""

    def pendulum(parts):
        m = dal.Model("pendulum")
        for k, (mass, x) in enumerate(parts):
            m.add_body(f"part{k}", mass, (0.01 * mass,) * 3, com=(x, 0, 0))
            m.add_joint(f"j{k}", "fixed" if k else "revolute", "part0" if k else "world", f"part{k}", axis=(0, 1, 0))
        return m.frozen(), np.array([0.3]), np.array([1.0])

    one, two = (run(pendulum(p), method, 0.01, 2.0).q for p in ([(2.0, 0.5)], [(1.0, 0.5), (1.0, 0.5)]))
    np.testing.assert_allclose(one, two, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_joints_may_be_added_in_any_order(run, end, method):
    """q and v follow the order of joints, links that of the tree."""
    found = []
    for order in ((0, 1, 2), (2, 0, 1)):
        m = dal.Model("chain")
        for k in range(3):
            m.add_body(f"b{k}", 1.0, (0.02, 0.03, 0.04), com=(0.2, 0, 0.05), pose=((0.5 * k, 0, 0), LEVEL))
        for k in order:
            kind, axis = (("revolute", (0, 1, 0)), ("spherical", (0, 0, 1)), ("prismatic", (1, 0, 1)))[k]
            m.add_joint(f"j{k}", kind, f"b{k - 1}" if k else "world", f"b{k}", (0.5 * k, 0, 0), axis, stiffness=20.0)
        q0, v0 = m.check_q({"j0": 0.3, "j2": 0.1}), m.check_v({"j0": 0.5, "j1": (0.2, 0.4, -0.3), "j2": 0.2})
        q, v = end((m, q0, v0), method, 0.01, 1.0)
        found.append({j.name: (q[m.q_slices()[j.name]], v[m.v_slices()[j.name]]) for j in m.joints})
    for name in found[0]:
        for a, b in zip(found[0][name], found[1][name], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


# robots -------------------------------------------------------------------------------------------------------------------------------


def robot(name):
    share = Path(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share"))
    robots = share / "example-robot-data" / "robots"
    gymnasium = Path(next(iter(importlib.util.find_spec("gymnasium").submodule_search_locations))) / "envs" / "mujoco" / "assets"
    path, floating = {
        "ur5": (robots / "ur_description/urdf/ur5_robot.urdf", False),
        "anymal": (robots / "anymal_b_simple_description/robots/anymal.urdf", True),
        "humanoid": (gymnasium / "humanoid.xml", None),
    }[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dal.load_model(path, floating_base=floating) if floating is not None else dal.load_model(path)


@pytest.mark.parametrize("name", ["ur5", "anymal", "humanoid"])
@pytest.mark.parametrize("method", METHODS)
def test_robot_moves_as_by_another_method(name, method, slopes):
    """A tenth of a second from random rates of 0.5 rad/s: order 2 over three halvings."""
    m = robot(name)
    rng = np.random.default_rng(5)
    q0, v0 = m.integrate(m.neutral(), 0.2 * rng.uniform(-1, 1, m.nv)), 0.5 * rng.uniform(-1, 1, m.nv)
    ignore = ("contact", "limits", "joint friction")
    machine = (m, q0, v0)
    t_end = 0.1
    ref = dal.simulate(m, "mk8", h=t_end / 4, t_end=t_end, q0=q0, v0=v0, rtol=1e-13, atol=1e-14, ignore=ignore)
    found, errors = slopes(machine, method, t_end / np.array([40, 80, 160, 320]), t_end, reference=(ref.q[-1], ref.v[-1]), ignore=ignore)
    assert np.abs(found - 2).max() < 0.1, errors
