"""Every scene builds, runs, keeps what its method promises, and moves as its closed form, its source and its summary say."""

import json
from pathlib import Path

import numpy as np
import pytest

from dalembert import scenes
from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import Model
from dalembert.model.features import can_touch
from dalembert.runs.choice import choose_stepper
from dalembert.verification import sleeping_threshold

HEAVY_TOP = json.loads((Path(__file__).parent / "data" / "heavy_top.json").read_text())
NAMES = scenes.names()
BODIES = [name for name in NAMES if isinstance(scenes.find(name).reduced().model(), Model)]
CONTACT = [name for name in BODIES if can_touch(scenes.find(name).reduced().model())]  # judged by test_contact_scenes.py
SMOOTH = [name for name in NAMES if name not in CONTACT]
EXACT = [name for name in NAMES if scenes.find(name).exact is not None]
NEEDED = {
    "free-body",
    "tennis-racket",
    "lagrange-top-slow",
    "lagrange-top-sleeping",
    "lagrange-top-fast",
    "satellite",
    "falling-body",
    "thesis-e1",
    "heavy-top",
}


def largest_difference(traj, q):
    return float(np.abs(traj.model.difference(traj.q, q)).max())


def tilt(traj):
    """Angle between the body's z axis and the vertical, rad."""
    return np.arccos(np.clip(traj.poses[:, 0, 2, 2], -1, 1))


def test_needed_scenes_exist_in_alphabetical_order():
    assert set(NAMES) >= NEEDED
    assert sorted(NAMES) == NAMES


def test_unknown_scene_names_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'free-body'"):
        scenes.find("free-bdy")


@pytest.mark.parametrize("name", NAMES)
def test_scene_describes_itself(name):
    scene = scenes.find(name)
    assert scene.name == name
    assert scene.model().name == name
    assert len(scene.summary) > 20
    assert choose_stepper(scene.model(), scene.stepper, ())[1].order >= 1
    n = scene.t_end / scene.h
    assert abs(n - round(n)) < 1e-9 * n


@pytest.mark.parametrize("name", BODIES)
def test_every_model_is_new_and_may_be_changed(name):
    scene = scenes.find(name)
    first, second = scene.model(), scene.model()
    first.add_body("another", 1.0, (1, 1, 1))
    assert len(second.bodies) == len(first.bodies) - 1


@pytest.mark.parametrize("name", SMOOTH)
def test_run_keeps_what_its_method_promises(name):
    scene = scenes.find(name)
    traj = scene.simulate(t_end=200 * scene.h)
    assert traj.status == "ok"
    assert traj.stepper.name == scene.stepper
    report = traj.report()
    assert report.verdict != "fail", report.text


@pytest.mark.parametrize("name", EXACT)
def test_run_converges_to_the_exact_motion_with_its_order(name):
    """Errors at h/2 and h/4 over 100 h: |p_obs - p| < 0.1 leaves room for the terms of order h^2 relative, h |omega| <= 0.15 here."""
    scene = scenes.find(name)
    errors = []
    for k in (2, 4):
        traj = scene.simulate(h=scene.h / k, every=k, t_end=100 * scene.h)
        errors.append(largest_difference(traj, scene.exact(traj.t)))
    order = choose_stepper(scene.model(), scene.stepper, ())[1].order
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.1


@pytest.mark.parametrize("name", EXACT)
def test_exact_motion_starts_at_q0_with_v0(name):
    """A central difference over 1e-5 s: error (1e-5 |omega|)^2 |omega| / 6 and 1e-16/1e-5 from round-off, below 1e-3 at 150 rad/s."""
    scene = scenes.find(name)
    m = scene.model()
    q = scene.exact(np.array([-1e-5, 0.0, 1e-5]))
    assert np.allclose(m.difference(m.check_q(scene.q0), q[1]), 0, atol=1e-14)
    assert np.allclose(m.difference(q[0], q[2]) / 2e-5, m.check_v(scene.v0), atol=1e-3)


@pytest.mark.parametrize("name", SMOOTH)
def test_only_chaotic_scenes_lose_their_neighbours_exponentially(name):
    """Two runs 1e-9 rad/s apart: over twice the time an integrable motion separates about twice as far, a chaotic one by far more."""
    scene = scenes.find(name)
    v = scene.model().check_v(scene.v0)
    apart = []
    for t_end in (scene.t_end, 2 * scene.t_end):
        a, b = (scene.simulate(v0=v + d, t_end=t_end, every=10) for d in (0.0, 1e-9 * np.eye(len(v))[0]))
        apart.append(largest_difference(a, b.q))
    assert (apart[1] / apart[0] > 50) == scene.chaotic, apart


def test_settings_can_be_overridden():
    traj = scenes.find("free-body").simulate(stepper="tln", h=0.02, t_end=1.0, v0={"body": (0, 0, 1, 0, 0, 0)})
    assert traj.stepper.name == "tln"
    assert traj.h == 0.02
    assert len(traj) == 51
    assert np.allclose(traj.v, [0, 0, 1, 0, 0, 0])


def test_heavy_top_follows_the_reference():
    """Against a Taylor integration of 256 bits: the closed form loses round-off times the angle turned, 300 rad."""
    scene = scenes.find("heavy-top")
    params, samples = HEAVY_TOP["params"], HEAVY_TOP["samples"]
    body = scene.model().bodies[0]
    assert body.mass == params["m"]
    assert np.allclose(np.diag(body.inertia), np.array(params["J_com"], dtype=float))
    assert np.allclose(body.com, params["X"])
    assert np.allclose(scene.v0["tip"], np.array(params["Omega0"], dtype=float))
    t = np.array([float(s["t"]) for s in samples])
    q = np.array([s["quat_wxyz"] for s in samples], dtype=float)
    assert np.abs(scene.model().difference(q, scene.exact(t))).max() < 1e-10


def test_thesis_e1_has_the_published_energy_and_momentum():
    """Print gives six digits."""
    scene = scenes.find("thesis-e1")
    m = scene.model()
    q, v = m.check_q(scene.q0), m.check_v(scene.v0)
    assert abs(m.energy(q, v) - 0.566867) < 1e-6
    assert abs(np.linalg.norm(m.momentum(q, v)[:3]) - 1.100516) < 1e-6


def test_body_of_the_second_published_experiment_cannot_exist():
    """Inertia (2, 1, 5) violates the triangle inequality: there is no such scene."""
    with pytest.raises(ModelError, match="triangle inequality"):
        Model("e2").add_body("body", 1.0, (2, 1, 5))
    assert "thesis-e2" not in NAMES


@pytest.mark.parametrize(
    ("name", "lowest", "energy"), [("slow", -0.9992, 6.5754), ("medium", -0.6757, 10.5654), ("fast", 0.9838, 406.5654)]
)
def test_tops_sink_as_deep_as_theory_says(name, lowest, energy):
    """Height of the axis's tip over its length within 10 s, to the four digits of the values."""
    scene = scenes.find(f"lagrange-top-{name}")
    traj = scene.simulate(t_end=10.0)
    assert abs(np.cos(tilt(traj)).min() - lowest) < 1e-3
    assert abs(traj.energy[0] - energy) < 1e-4


def test_sleeping_top_stays_upright_and_a_slower_one_does_not():
    scene = scenes.find("lagrange-top-sleeping")
    spin = scene.v0["tip"][2]
    body, m = scene.model().bodies[0], scene.model()
    threshold = sleeping_threshold(body.inertia[0, 0] + body.mass * body.com[2] ** 2, body.inertia[2, 2], body.mass * 10.0 * body.com[2])
    assert m.gravity[2] == -10.0
    assert 4.0 < threshold < spin
    assert np.degrees(tilt(scene.simulate())).max() < 2.0
    assert np.degrees(tilt(scene.simulate(v0={"tip": (0, 0, 4.0)}))).max() > 20.0


def test_tennis_racket_turns_over_about_its_middle_axis_alone():
    scene = scenes.find("tennis-racket")
    for axis, spin in ((0, (6, 0.01, 0.01)), (1, (0.01, 6, 0.01)), (2, (0.01, 0.01, 6))):
        traj = scene.simulate(v0={"body": (*spin, 0, 0, 0)})
        assert (traj.v[:, axis].min() < 0) == (axis == 1)


def test_satellite_is_detumbled_by_the_work_of_its_damper():
    """The trapezoidal ledger of work has order 2, as the step: h^2 |omega|^2 = 0.0025."""
    traj = scenes.find("satellite").simulate()
    assert traj.kinetic[-1] < 0.01 * traj.kinetic[0]
    assert np.all(np.diff(traj.kinetic) < 0)
    assert np.abs(traj.energy - traj.energy[0] - traj.work).max() < 0.0025 * traj.kinetic[0]


def test_falling_body_lands_where_a_point_mass_does():
    """x = v t + g t^2/2 is met exactly by a step of order 2, up to round-off."""
    traj = scenes.find("falling-body").simulate()
    t = traj.t[:, None]
    assert np.allclose(traj.q[:, :3], t * [2, 1, 7] + t**2 / 2 * [0, 0, -9.81], atol=1e-12)
