"""Everything that users get wrong is refused with a sentence that says what was given and what was expected."""

import math
import warnings

import casadi as ca
import numpy as np
import pytest

import dalembert as dal


def kinetic(q, v):
    return 0.5 * (v @ v)


def kepler():
    return dal.Lagrangian(2, lambda q, v: kinetic(q, v) + 1 / np.sqrt(q @ q), symmetries={"rotation": ((0, -1), (1, 0))}, name="kepler")


def spherical_pendulum():
    return dal.Lagrangian(3, lambda q, v: kinetic(q, v) - q[2], holonomic=lambda q: [q @ q - 1], name="pendulum")


# systems that cannot be -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "2", None])
def test_number_of_coordinates(n):
    with pytest.raises(dal.ModelError, match="expected the number of coordinates"):
        dal.Lagrangian(n, kinetic)


@pytest.mark.parametrize(
    ("L", "match"),
    [
        (None, "L is None; expected a function"),
        (3.0, r"L is 3.0; expected a function of \(q, v\)"),
        (lambda q, v: None, "L returns 'NoneType'"),
        (lambda q, v: "x", "L returns 'str'"),
        (lambda q, v: v * v, "L returns 2 x 1 numbers; expected one number"),
        (lambda q, v: np.outer(v, v), "L returns 2 x 2 numbers; expected one number"),
        (lambda q, v: (v @ v, q @ q), "L returns 1 x 1 and 1 x 1 numbers; expected one number"),
        (lambda q, v: v @ v + math.sin(q[0]), "turns a symbol into a number"),
        (lambda q, v: v @ v + float(q[0]), "turns a symbol into a number"),
        (lambda q, v: v @ v * np.nan, "turns a symbol into a number"),
        (lambda q, v: v @ v if q[0] > 0 else 2 * v @ v, "without branches on q or v"),
        (lambda q, v: v @ v + max(q[0], 0), "without branches on q or v"),
        (lambda q, v: v[2] ** 2, "index 2 is out of bounds"),
        (lambda q, v, x: v @ v, "argument 'x'"),
        (lambda q, v, t: v @ v * t, "L depends on t"),
        (lambda q, v, p: p.mass * (v @ v), "no parameter 'mass'"),
        (lambda q, v: ca.MX.sym("x"), "MX expression"),
        (lambda q, v: ca.SX.sym("x") * (v @ v), "symbols of its own"),
        (lambda q, v: 1.0, "does not depend on the velocity of q1, q2"),
        (lambda q, v: v[0] ** 2 + q[1] ** 2, "does not depend on the velocity of q2"),
    ],
)
def test_lagrangian(L, match):
    with pytest.raises(dal.ModelError, match=match):
        dal.Lagrangian(2, L)


@pytest.mark.parametrize(
    ("part", "match"),
    [
        ({"force": lambda q, v: [1.0]}, "force returns 1 x 1 numbers; expected 2 numbers"),
        ({"force": lambda q, v: None}, "force returns 'NoneType'"),
        ({"force": lambda q, v: np.eye(2)}, "force returns 2 x 2 numbers"),
        ({"force": [1, 2]}, r"force is \[1, 2\]; expected a function"),
        ({"rayleigh": lambda q, v: v}, "rayleigh returns 2 x 1 numbers; expected one number"),
        ({"holonomic": lambda q: [[q[0], q[1]], [1, 2]]}, "holonomic returns 2 x 2 numbers; expected a vector"),
        ({"holonomic": lambda q, v: v[0]}, "holonomic has the argument 'v'"),
        ({"pfaffian": lambda q: [[1, 0, 0]]}, "pfaffian returns 1 x 3 numbers; expected a matrix with 2 columns"),
        ({"pfaffian": lambda q: ([[1, 0]], [1, 2])}, "pfaffian returns 1 x 2 and 2 x 1"),
        ({"symmetries": [(1, 0, 0)]}, "symmetry 1 gives 3 x 1 numbers; expected 2"),
        ({"symmetries": [np.eye(3)]}, "symmetry 1 is a matrix of 3 x 3; expected 2 x 2"),
        ({"symmetries": {"shift": "x"}}, "shift is 'x'; expected a function of q"),
        ({"symmetries": [(np.nan, 0)]}, "finite"),
        ({"symmetries": {"stretch": lambda q: q}}, "stretch is no symmetry"),
        ({"names": ("x",)}, "expected 2 different names"),
        ({"names": ("x", "x")}, "expected 2 different names"),
    ],
)
def test_other_parts(part, match):
    with pytest.raises(dal.ModelError, match=match):
        dal.Lagrangian(2, kinetic, **part)


@pytest.mark.parametrize("value", [np.nan, np.inf, "x", [[1, 2]], None])
def test_parameters(value):
    with pytest.raises(dal.OptionError, match="parameter 'm'"):
        dal.Lagrangian(1, kinetic, params={"m": value})


def test_changed_parameters():
    s = dal.Lagrangian(1, lambda q, v, p: 0.5 * p.m * v[0] ** 2, params={"m": 1.0})
    with pytest.raises(dal.UnknownNameError, match="unknown parameter 'mass'"):
        s.with_params(mass=1.0)
    with pytest.raises(dal.OptionError, match=r"parameter 'm' is .* expected a number"):
        s.with_params(m=[1.0, 2.0])


def test_functions_that_look_like_branches_but_are_none():
    for L in (lambda q, v: v[0] ** 2 + np.maximum(q[0], 0), lambda q, v: v[0] ** 2 + abs(q[0])):
        assert dal.simulate(dal.Lagrangian(1, L), h=0.1, t_end=1.0, q0=1.0).status == "ok"


# starts -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "match"),
    [
        ({"q0": (1, 0, 0)}, "expected 2 finite numbers"),
        ({"q0": (1, np.nan)}, "expected 2 finite numbers"),
        ({"q0": "abc"}, "expected 2 numbers"),
        ({"q0": {"q1": (1.0, 2.0)}}, "coordinate 'q1' is"),
        ({"q0": (1, 0), "v0": (np.inf, 0)}, "v0 is"),
        ({}, "not finite at q0"),  # 1/|q| at the origin
    ],
)
def test_starts_that_cannot_be(start, match):
    with pytest.raises(dal.OptionError, match=match):
        dal.simulate(kepler(), h=0.1, t_end=1.0, **start)


def test_unknown_coordinate():
    with pytest.raises(dal.UnknownNameError, match=r"unknown coordinate 'z'.*q1, q2"):
        dal.simulate(kepler(), q0={"z": 1})


def test_singular_mass_at_the_start():
    with pytest.raises(dal.OptionError, match="singular at q0"):
        dal.simulate(dal.Lagrangian(1, lambda q, v: 0.5 * q[0] ** 2 * v[0] ** 2), h=0.1, t_end=1.0)
    with pytest.raises(dal.OptionError, match="singular at q0"):
        dal.simulate(dal.Lagrangian(2, lambda q, v: (v[0] + v[1]) ** 2), h=0.1, t_end=1.0)


def test_starts_that_violate_constraints_and_how_to_mend_them():
    s = spherical_pendulum()
    with pytest.raises(dal.OptionError, match=r"holonomic: q0 violates it by 3.*s.assemble"):
        dal.simulate(s, q0=(2, 0, 0))
    with pytest.raises(dal.OptionError, match=r"v0 violates its derivative by 2.*s.assemble"):
        dal.simulate(s, q0=(1, 0, 0), v0=(1, 0, 0))
    q0, v0 = s.assemble((2, 0, 0), (1, 1, 0))
    assert dal.simulate(s, h=0.01, t_end=0.1, q0=q0, v0=v0).status == "ok"
    disk = dal.Lagrangian(2, kinetic, pfaffian=lambda q: [[1.0, 0.0]])
    with pytest.raises(dal.OptionError, match="pfaffian: v0 violates it by 1"):
        dal.simulate(disk, v0=(1, 0))
    with pytest.raises(dal.AssemblyError, match="cannot be met"):
        dal.Lagrangian(1, kinetic, holonomic=lambda q: [q[0] ** 2 + 1]).assemble([0.3])


# runs -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"h": 0}, "h is 0; expected a positive"),
        ({"h": -0.1}, "expected a positive"),
        ({"h": np.nan}, "expected a positive"),
        ({"h": 0.3}, "not a whole number of steps"),
        ({"h": 0.1, "every": 3}, "does not divide"),
        ({"h": 0.1, "tol": -1}, "option 'tol' of stepper 'midpoint' is -1"),
        ({"h": 0.1, "control": 3}, "control is 3"),
    ],
)
def test_arguments_of_a_run(given, match):
    with pytest.raises(dal.OptionError, match=match):
        dal.simulate(kepler(), "midpoint", t_end=1.0, q0=(1, 0), **given)


def test_steppers_of_other_systems_and_unknown_options():
    with pytest.raises(dal.UnknownNameError, match=r"unknown stepper 'cayley'.*midpoint"):
        dal.simulate(kepler(), "cayley", q0=(1, 0))
    with pytest.raises(dal.UnknownNameError, match="unknown option of stepper 'midpoint' 'tool'"):
        dal.simulate(kepler(), "midpoint", q0=(1, 0), tool=1)
    with pytest.raises(dal.UnsupportedError, match="'midpoint' does not handle holonomic"):
        dal.simulate(spherical_pendulum(), "midpoint", q0=(1, 0, 0))
    damped = dal.Lagrangian(1, kinetic, rayleigh=lambda q, v: v[0] ** 2)
    with pytest.raises(dal.UnsupportedError, match="dissipative"):
        dal.simulate(damped, "midpoint", h=0.1, t_end=1.0, compose="suzuki4")
    for call in (dal.simulate, dal.Simulation, dal.compare):
        with pytest.raises(dal.OptionError, match="expected a Model or a Lagrangian"):
            call("kepler") if call is not dal.compare else call("kepler", [("midpoint", 0.1)], 1.0)


@pytest.mark.parametrize(
    ("control", "match"),
    [
        (lambda t, q, v: [1.0], r"control returned shape \(1,\).*expected \(2,\)"),
        (lambda t, q, v: [np.nan, 0], "expected finite numbers"),
        (lambda t, q, v: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_controls_that_break_leave_what_was_computed(control, match):
    def late(t, q, v):
        return control(t, q, v) if t > 0.45 else (0.0, 0.0)

    with pytest.raises(dal.SimulationError, match=match) as caught:
        dal.simulate(kepler(), "midpoint", h=0.1, t_end=1.0, q0=(1, 0), v0=(0, 1), control=late)
    assert len(caught.value.traj) == 6


def test_a_collision_ends_the_run_and_keeps_what_was_computed():
    with pytest.raises(dal.SimulationError, match=r"did not converge.*smaller h") as caught:
        dal.simulate(kepler(), "midpoint", h=0.1, t_end=10.0, q0=(1, 0))
    traj = caught.value.traj
    assert 5 < len(traj) < 20
    assert np.isfinite(traj.q).all()
    assert traj.report().verdict == "fail"
    assert traj.report()["run"].verdict == "fail"


def test_an_explosion_is_reported_without_warnings(tmp_path):
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + q[0] ** 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj = dal.simulate(s, "verlet", h=0.1, t_end=10.0, q0=1.0, on_fail="return", save=tmp_path / "run.h5")
        assert "infinite" in traj.status
        assert traj.report().verdict == "fail"
        traj.plot(tmp_path / "run.png")
        assert "infinite" in dal.load(tmp_path / "run.h5").status


def test_huge_parameters_and_steps_are_run_and_judged():
    heavy = dal.Lagrangian(1, lambda q, v, p: 0.5 * p.m * v[0] ** 2, params={"m": 1e300})
    traj = dal.simulate(heavy, h=0.1, t_end=1.0, v0=1.0)
    assert np.allclose(traj.q[:, 0], traj.t)
    assert traj.report().verdict == "pass"
    coarse = dal.simulate(kepler(), "midpoint", h=1e6, t_end=1e7, q0=(1, 0), v0=(0, 1)).report()
    assert coarse["energy"].verdict == "warn"
    assert "too coarse" in coarse["energy"].text


def test_a_system_at_rest():
    report = dal.simulate(dal.Lagrangian(1, kinetic), h=0.1, t_end=1.0).report()
    assert report.verdict == "pass"
