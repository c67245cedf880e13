"""Scenes with contacts: each shows what its check says, and what theory says of its neighbours with other numbers."""

import numpy as np
import pytest

import dalembert as dal
from dalembert import scenes
from dalembert.model import Model
from dalembert.model.features import can_touch
from dalembert.runs.simulate import simulate
from dalembert.scenes import contact_heaps, contact_machines, contact_piles, contact_robots, contact_structures, contact_tops

NAMES = [name for name in scenes.names() if scenes.find(name).check is not None]
STEPS = [name for name in NAMES if scenes.find(name).stepper == "spook"]  # those whose account has a column of contacts
H = 1 / 60


def run(model: Model, t_end: float, h: float = H, **more):
    return simulate(model, "spook", h=h, t_end=t_end, **more)


def test_every_scene_with_contacts_has_a_check():
    models = {name: scenes.find(name).reduced().model() for name in scenes.names()}
    assert {name for name, m in models.items() if isinstance(m, Model) and can_touch(m)} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_scene_shows_what_its_check_says(name):
    scene = scenes.find(name).reduced()
    traj = scene.simulate()
    assert traj.status == "ok"
    found = scene.check(traj)
    assert all(f.ok for f in found), found


@pytest.mark.parametrize("name", STEPS)
def test_account_closes(name):
    """Kinetic and potential energy change by what the columns say, to round-off of the largest of them."""
    scene = scenes.find(name).reduced()
    traj = scene.simulate(t_end=60 * scene.h)
    work = {k: np.cumsum(x) for k, x in traj.account.items() if k != "impulse"}
    energy = traj.energy
    scale = max(np.abs(energy).max(), *(np.abs(x).max() for x in work.values()))
    assert np.abs(energy[1:] - energy[0] - sum(work.values())).max() < 1e-11 * scale


@pytest.mark.parametrize("name", STEPS)
def test_contacts_and_friction_add_no_energy(name):
    """Round-off of the largest energy apart. Friction of a driven belt or hand may, and lift a box: they are left out."""
    scene = scenes.find(name).reduced()
    traj = scene.simulate(t_end=60 * scene.h)
    scale = np.abs(traj.energy).max()
    columns = ("contact", "friction", "impact") if name not in ("belt", "gripper") else ("impact",)
    assert sum(np.cumsum(traj.account[c])[-1] for c in columns) < 1e-9 * scale


@pytest.mark.parametrize(("angle", "sticks"), [(26.0, True), (27.0, False)])
def test_block_sticks_below_the_angle_of_friction_alone(angle, sticks):
    """tan 26.57 degrees = 0.5."""
    traj = run(contact_piles.incline(angle), 2.0)
    assert (contact_piles.moved(traj) < 0.01) == sticks


@pytest.mark.parametrize("eps", [1e-7, 1e-8])
def test_sticking_block_creeps_as_stated(eps):
    """sigma times the impulse, 4 eps Y/h times the force, shared by four points that all stick. At 20 degrees two of them would slip."""
    traj = run(contact_piles.incline(10.0), 4.0, eps=eps)
    force = contact_piles.GRAVITY * np.sin(np.radians(10.0)) / 4.0
    assert abs(contact_piles.creep(traj) / (1e6 * contact_piles.creep_speed(force, eps, H)) - 1.0) < 0.01


def test_stack_sinks_by_its_compliance_alone():
    """Each contact gives way by eps times its force: four points below box k carry the weight of the 11 - k boxes from it on."""
    eps = 1e-7
    traj = run(contact_piles.stack(), 5.0, eps=eps)
    weights = contact_piles.GRAVITY * np.arange(10, 0, -1)
    sunk = traj.poses[0, :, 2, 3] - traj.poses[-1, :, 2, 3]
    assert np.allclose(sunk, np.cumsum(eps * weights / 4), rtol=1e-4)


def test_thin_arch_falls_and_a_thick_one_stands():
    """A half circle needs thickness > 0.107 radius (Heyman); 0.08 falls."""
    thin = run(contact_structures.arch(thickness=0.08), 3.0)
    assert thin.poses[-1, 5, 2, 3] < 0.5


def test_weak_gripper_lets_the_box_slip():
    """2 mu F = 8 N < m g."""
    traj = run(contact_machines.gripper(8.0), 3.0, q0=scenes.find("gripper").q0, control=contact_machines.grip)
    assert contact_machines.body(traj, "box")[-1, 2] < 0.2


def test_gripper_presses_with_the_force_of_its_motors():
    traj = scenes.find("gripper").simulate(t_end=1.0)
    rows = traj.contacts.of(len(traj) - 1)
    names = [b.name for b in traj.model.bodies]
    left, box = names.index("left"), names.index("box")
    mine = rows[(np.sort(rows[:, :2], axis=1) == sorted((left, box))).all(axis=1)]
    assert abs(np.abs(mine[:, 9].sum()) / H - 20.0) < 0.01


def test_tippe_top_keeps_jelletts_integral():
    """L . (arm from the contact to the centre of mass) of a ball that rolls or slides, whatever friction does; 2 % for order 1."""
    scene, c = scenes.find("tippe-top"), contact_tops.TIPPE
    traj = scene.simulate()
    R, inertia = traj.poses[:, 0, :3, :3], traj.model.bodies[0].inertia
    L = np.einsum("nij,jk,nk->ni", R, inertia, traj.v[:, :3])
    J = np.einsum("ni,ni->n", L, np.array([0, 0, c["radius"]]) - c["low"] * R[:, :, 2])
    assert np.ptp(J) < 0.02 * abs(J[0])


def test_heaps_of_other_seeds_rest_too():
    for seed in (2, 3):
        traj = run(contact_piles.heap(30, seed), 10.0)
        assert contact_piles.last_motion(traj) < 1e-9


def test_mixed_heaps_of_other_seeds_rest_too():
    for seed in (5, 6):
        traj = run(contact_heaps.mixed_heap(30, seed), 10.0)
        assert contact_piles.last_motion(traj) < 1e-9


def test_solids_have_the_inertia_of_their_bodies():
    """Octahedron of radius r and 1 kg: I = r^2/5 about every axis; a box by corners as `Box` has it; a tetrahedron of edge e: e^2/20."""
    tetrahedron, octahedron = (contact_heaps.polyhedron(c)[1] for c in contact_heaps.solids()[:2])
    np.testing.assert_allclose(octahedron, 0.14**2 / 5 * np.eye(3), rtol=0, atol=1e-15)
    np.testing.assert_allclose(tetrahedron, 0.08 / 20 * np.eye(3), rtol=0, atol=1e-15)
    box = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)])
    np.testing.assert_allclose(contact_heaps.polyhedron(box)[1], np.diag(dal.Box((0.2, 0.4, 0.6)).inertia(1.0)), rtol=0, atol=1e-15)


def test_quadruped_with_weak_motors_sinks_to_its_knees():
    """A knee carries some 4 N m; motors of 1 N m do not hold that."""
    m = contact_robots.quadruped().with_values({f"{leg} knee.limit": 1.0 for leg, _, _ in contact_robots.LEGS})
    traj = run(m, 3.0, q0=contact_robots.crouch(), control=contact_robots.hold)
    trunk = contact_machines.body(traj, "trunk")[:, 2]
    assert trunk[-1] < trunk[0] - 0.1


def test_humanoid_with_soft_ankles_falls():
    """It stands while the ankles are stiffer than weight times height of the centre of mass, some 600 N m: 2 x 150 are not."""
    joints = [f"{side}_ankle_pitch" for side in ("left", "right")]
    m = contact_robots.humanoid().with_values({f"{joint}.kp": 150.0 for joint in joints})
    traj = run(m, 5.0, v0=scenes.find("humanoid").v0, control=contact_robots.upright)
    assert contact_machines.body(traj, "head")[-1, 2] < 0.8


def test_house_of_three_stories_stands():
    traj = run(contact_structures.card_house(3), 5.0)
    assert contact_piles.moved(traj) < 0.001


def test_builders_take_sizes():
    large = {"pyramid-990": 990, "heap-1000": 1000, "spheres-1000": 1000}
    for name, n in large.items():
        scene = scenes.find(name)
        assert len(scene.model().bodies) == n
        assert len(scene.reduced().model().bodies) <= 60
    assert len(contact_machines.chain_bridge(20).bodies) == 21
