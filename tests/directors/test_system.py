"""`Directors` as a system: data, files, restart, steps one by one, errors."""

import numpy as np
import pytest
from director_machines import chain, double_pendulum, four_bar, pair, top

import dalembert as dal


def test_a_run_is_a_file_and_goes_on_bit_for_bit(tmp_path):
    m, q, v = four_bar()
    d = dal.Directors(m)
    path = tmp_path / "run.h5"
    traj = dal.simulate(d, h=0.01, t_end=0.5, save=path, **d.start(q, v))
    again = dal.load(path)
    assert again.model.kind == "directors"
    assert again.model.dropped == d.dropped
    np.testing.assert_array_equal(again.q, traj.q)
    np.testing.assert_array_equal(again.multipliers["holonomic"], traj.multipliers["holonomic"])
    further, whole = dal.resume(path, 0.8), dal.simulate(d, h=0.01, t_end=0.8, **d.start(q, v))
    np.testing.assert_array_equal(further.q, whole.q)
    assert again.report().verdict == "pass"


def test_pictures_are_those_of_the_machine(tmp_path):
    m, q, v = double_pendulum()
    d = dal.Directors(m)
    traj = dal.simulate(d, h=0.01, t_end=0.5, **d.start(q, v))
    traj.plot(tmp_path / "run.png")
    traj.animate(tmp_path / "run.gif", fps=2, seconds=4)
    assert (tmp_path / "run.png").stat().st_size > 10_000
    assert (tmp_path / "run.gif").stat().st_size > 1_000
    other = dal.simulate(m, "midpoint", h=0.01, t_end=0.5, q0=q, v0=v)
    np.testing.assert_allclose(traj.joint("elbow").q, other.joint("elbow").q, atol=1e-3)
    assert traj.to_pandas().shape[0] == 51
    q_between, _ = traj.at(0.123)
    assert np.abs(d.constraints(q_between)).max() < 1e-14


def test_it_is_stepped_and_pushed():
    m, q, v = top()
    d = dal.Directors(m)
    sim = dal.Simulation(d, h=0.01, **d.start(q, v))
    sim.step(20)
    whole = dal.simulate(d, h=0.01, t_end=0.2, **d.start(q, v))
    np.testing.assert_array_equal(sim.state.q, whole.q[-1])
    sim.apply_force("rotor", force=(1.0, 0, 0))
    sim.step()
    assert np.abs(d.constraints(sim.state.q)).max() < 1e-15


def test_columns_tell_bodies_and_directors():
    d = dal.Directors(pair("revolute"))
    names = d.column_names("q")
    assert names[:4] == ["a.x", "a.y", "a.z", "a.d1x"]
    assert len(names) == len(d.column_units("v")) == d.nq == 24
    assert d.describe() == "2 bodies, 3 kg, 24 director coordinates, 17 constraints"
    assert dal.Directors.from_dict(d.to_dict()).to_dict() == d.to_dict()


def test_a_start_off_the_constraints_is_refused_by_name():
    m, q, v = top()
    d = dal.Directors(m)
    Q, V = d.state(q, v)
    with pytest.raises(dal.OptionError, match=r"'rotor' \(\|d1\|\): q0 violates it by"):
        dal.simulate(d, h=0.01, t_end=0.1, q0=Q * np.r_[np.ones(3), 1.01 * np.ones(3), np.ones(6)], v0=V)
    with pytest.raises(dal.OptionError, match="v0 violates it at the rate"):
        dal.simulate(d, h=0.01, t_end=0.1, q0=Q, v0=V + 0.1)
    with pytest.raises(dal.OptionError, match=r"q has shape \(3,\); expected \(12,\)"):
        dal.simulate(d, h=0.01, t_end=0.1, q0=(1, 2, 3))
    with pytest.raises(dal.OptionError, match="takes rates of joints"):
        dal.simulate(d, h=0.01, t_end=0.1, v0={"tip": (0, 0, 1)})
    with pytest.raises(dal.OptionError, match="expected a Model"):
        dal.Directors("top")


def test_a_reversed_axis_is_no_start():
    m = dal.Model()
    m.add_body("a", 1.0, (0.1, 0.2, 0.25))
    m.add_joint("hinge", "revolute", "world", "a", axis=(0, 0, 1))
    d = dal.Directors(m)
    flipped = np.r_[0, 0, 0, 1, 0, 0, 0, -1.0, 0, 0, 0, -1.0]  # half a turn about x: d_3 against the axis, all rows are met
    assert np.abs(d.constraints(flipped)).max() == 0.0
    with pytest.raises(dal.OptionError, match="joint 'hinge': the axes of its bodies are opposite"):
        dal.simulate(d, h=0.01, t_end=0.1, q0=flipped)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.add_joint("roll", "knife-edge", "world", "b", axis=(1, 0, 0)), "joints 'roll' constrain velocities"),
        (lambda m: m.add_force(lambda t, q, v: np.zeros(7)), "are functions of the coordinates of its joints"),
        (lambda m: m.add_loop("cv", "homokinetic", "a", "b"), r"joint 'cv' \(homokinetic\)"),
    ],
)
def test_what_has_no_quadratic_form_is_refused_by_name(change, words):
    m = pair("revolute")
    change(m)
    with pytest.raises(dal.UnsupportedError, match=words):
        dal.Directors(m)


def test_forces_that_are_not_handled_are_named_and_can_be_ignored():
    m = pair("revolute")
    m.add_force(dal.Damper("a", linear=0.3))
    d = dal.Directors(m)
    with pytest.raises(dal.UnsupportedError, match="does not handle damp"):
        dal.simulate(d, h=0.01, t_end=0.1)
    traj = dal.simulate(d, h=0.01, t_end=0.1, ignore=("damping",))
    assert traj.report().verdict == "pass"


def test_point_masses_have_no_velocity_of_directors():
    m = dal.Model()
    m.add_particle("bob", 1.0, (1.0, 0, 0))
    m.add_joint("pin", "revolute", "world", "bob", axis=(0, 1, 0))
    d = dal.Directors(m)
    assert dal.simulate(d, h=0.01, t_end=0.5).report().verdict == "pass"  # moves all the same: P^T M P is regular
    with pytest.raises(dal.UnsupportedError, match="'energy-momentum' keeps a velocity of every director"):
        dal.simulate(d, "energy-momentum", h=0.01, t_end=0.5)
    assert dal.simulate(dal.Directors(chain()), "energy-momentum", h=0.01, t_end=0.5).status == "ok"


def test_a_heavy_top_makes_thousands_of_steps_a_second():
    """2000/s are asked for; measured 150,000/s on one thread."""
    import time

    m, q, v = top()
    d = dal.Directors(m)
    dal.simulate(d, h=0.001, t_end=0.01, **d.start(q, v))
    begin = time.process_time()
    dal.simulate(d, h=0.001, t_end=2.0, **d.start(q, v))
    assert 2000 / (time.process_time() - begin) > 2000


def test_methods_are_compared():
    m, q, v = top()
    d = dal.Directors(m)
    found = dal.compare(d, [("null-space", 0.01), ("energy-momentum", 0.01)], t_end=0.5, **d.start(q, v))
    assert found.text.count("pass") == 2


def test_it_is_not_edited_but_made_anew():
    m, q, v = top()
    d = dal.Directors(m)
    sim = dal.Simulation(d, h=0.01, **d.start(q, v))
    with pytest.raises(dal.UnsupportedError, match="is made from its model"), sim.edit():
        pass


def test_loops_are_judged_where_they_are_not_singular():
    """A parallelogram that lies flat: its rows depend on each other there, and more of them are left out than may be."""
    m = dal.Model("parallelogram")
    for name, x, z in (("left", 0, 0.5), ("top", 1.0, 1), ("right", 2, 0.5)):
        m.add_body(name, 1.0, (0.1, 0.12, 0.14), pose=((x, 0, z), (1, 0, 0, 0)))
    for name, parent, child, where in (
        ("j1", "world", "left", (0, 0, 0)), ("j2", "left", "top", (0, 0, 1)),
        ("j3", "top", "right", (2, 0, 1)), ("j4", "world", "right", (2, 0, 0)),
    ):  # fmt: skip
        m.add_joint(name, "revolute", parent, child, where, (0, 1, 0))
    flat = np.array([np.pi / 2, -np.pi / 2, np.pi / 2])
    upright = m.assemble({"j1": 0.3, "j2": -0.3, "j3": 0.3})[0]
    assert len(dal.Directors(m).dropped) == 3
    wrong = dal.Directors(m, at=flat)
    assert len(wrong.dropped) == 4
    right = dal.Directors(m, at=upright)
    assert dal.simulate(right, h=0.01, t_end=0.2, **right.start(upright)).report().verdict == "pass"
    with pytest.raises(dal.OptionError, match="depend on each other at q0"):
        dal.simulate(right, h=0.01, t_end=0.2, **right.start(flat))


def test_a_step_that_is_too_long_fails_with_a_sentence():
    m, q, v = top()
    d = dal.Directors(m)
    with pytest.raises(dal.SimulationError, match=r"\(null-space\): the step did not converge"):
        dal.simulate(d, h=2.0, t_end=20.0, **d.start(q, v))
