"""Contract of every joint kind, on random axes. A new kind gets these tests by being a file in `dalembert/model/joints`."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert.model.joints as package
from dalembert.model.joints import KINDS, Axes
from dalembert.model.rotation import matrix, quat_conj, quat_log, quat_mul, rotate

EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
SEEDS = pytest.mark.parametrize("seed", range(4))
ADDITIVE = [k for k in KINDS.values() if not k.quaternion_slots()]
STEP = 1e-5  # of central differences: truncation STEP^2 |v|^3/6 ~ 1e-9 (times the shift of a planar joint), round-off eps/STEP ~ 2e-11


def unit(rng):
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def sample(kind, seed):
    """A generator, axes that are not perpendicular, and a configuration."""
    rng = np.random.default_rng([seed, *kind.name.encode()])
    return rng, kind.axes(unit(rng), unit(rng)), kind.random(rng)


def as_matrix(pose):
    T = np.eye(4)
    T[:3, 3], T[:3, :3] = pose[0], matrix(pose[1])
    return T


def ad(x):
    hat = lambda a: np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])  # noqa: E731
    return np.block([[hat(x[:3]), np.zeros((3, 3))], [hat(x[3:]), hat(x[:3])]])


def test_every_file_is_a_kind():
    files = {p.stem for p in Path(package.__file__).parent.glob("*.py") if not p.stem.startswith("_")}
    assert (
        files == set(KINDS) == {"free", "fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar", "translation"}
    )


@EVERY
def test_sizes_agree(kind):
    assert len(kind.q_names) == len(kind.q_units) == kind.nq == len(kind.neutral())
    assert len(kind.v_names) == len(kind.v_units) == kind.nv
    assert kind.nq - kind.nv == len(kind.quaternion_slots())


@EVERY
@SEEDS
def test_neutral_is_the_identity(kind, seed):
    _, axes, _ = sample(kind, seed)
    assert as_matrix(kind.transform(kind.neutral(), axes)) == pytest.approx(np.eye(4), abs=1e-16)


@EVERY
def test_random_is_in_range(kind):
    rng = np.random.default_rng(3)
    q = np.array([kind.random(rng) for _ in range(200)])
    for k, unit_of_q in enumerate(kind.q_units):
        reach = np.pi if unit_of_q == "rad" else 1.0
        assert np.abs(q[:, k]).max() <= reach
        assert q[:, k].min() < -0.5 * reach and q[:, k].max() > 0.5 * reach  # and fills it
    for slot in kind.quaternion_slots():
        assert np.linalg.norm(q[:, slot : slot + 4], axis=1) == pytest.approx(1.0, abs=1e-15)


@EVERY
@SEEDS
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-1, 1.0, 3.0])
def test_integrate_and_difference_are_inverse(kind, seed, size):
    """Tangent vectors shorter than pi come back: relative 1e-9 because log near 0 sees q0^-1 q1 with absolute round-off only."""
    rng, _, q = sample(kind, seed)
    dq = rng.normal(size=kind.nv)
    dq *= size / max(np.linalg.norm(dq), 1e-300)
    assert kind.difference(q, kind.integrate(q, dq)) == pytest.approx(dq, rel=1e-9, abs=2e-15)
    assert kind.integrate(q, 0 * dq) == pytest.approx(q, abs=1e-15)


@EVERY
@SEEDS
def test_twist_is_the_derivative_of_the_transform(kind, seed):
    rng, axes, q = sample(kind, seed)
    v = rng.normal(size=kind.nv)
    p1, r1 = kind.transform(kind.integrate(q, STEP * v), axes)
    p0, r0 = kind.transform(kind.integrate(q, -STEP * v), axes)
    back = quat_conj(kind.transform(q, axes)[1])
    expected = np.concatenate([quat_log(quat_mul(quat_conj(r0), r1)), rotate(back, p1 - p0)]) / (2 * STEP)
    assert kind.twist(q, v, axes) == pytest.approx(expected, abs=1e-8)


@EVERY
@SEEDS
def test_subspace_times_v_is_the_twist(kind, seed):
    rng, axes, q = sample(kind, seed)
    v = rng.normal(size=kind.nv)
    S = kind.subspace(q, axes)
    assert S.shape == (6, kind.nv)
    assert S @ v == pytest.approx(kind.twist(q, v, axes), abs=1e-14)
    assert np.linalg.matrix_rank(S, tol=1e-9) == kind.nv


@pytest.mark.parametrize("kind", ADDITIVE, ids=lambda k: k.name)
@SEEDS
def test_derivatives_of_the_subspace_fit_together(kind, seed):
    """Coordinates that add: d_i S_j - d_j S_i + [S_i, S_j] = 0 (mixed derivatives of g commute)."""
    _, axes, q = sample(kind, seed)
    S = kind.subspace(q, axes)
    dS = [(kind.subspace(q + STEP * e, axes) - kind.subspace(q - STEP * e, axes)) / (2 * STEP) for e in np.eye(kind.nv)]
    for i in range(kind.nv):
        for j in range(i):
            assert dS[i][:, j] - dS[j][:, i] + ad(S[:, i]) @ S[:, j] == pytest.approx(np.zeros(6), abs=1e-9)


def primitive_pose(name, axis, q):
    T = np.eye(4)
    if name == "revolute":
        T[:3, :3] = Rotation.from_rotvec(q[0] * axis).as_matrix()
    elif name == "prismatic":
        T[:3, 3] = q[0] * axis
    else:
        T[:3, :3] = Rotation.from_quat(q[-4:], scalar_first=True).as_matrix()
        T[:3, 3] = q[:3] if name == "free" else 0.0
    return T


@EVERY
@SEEDS
def test_primitives_compose_to_the_joint(kind, seed):
    _, axes, q = sample(kind, seed)
    T, at = np.eye(4), 0
    for name, axis in kind.primitives(axes):
        assert axis is None or np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-15)
        n = KINDS[name].nq
        T = T @ primitive_pose(name, axis, q[at : at + n])
        at += n
    assert at == kind.nq
    assert sum(KINDS[name].nv for name, _ in kind.primitives(axes)) == kind.nv
    assert as_matrix(kind.transform(q, axes)) == pytest.approx(T, abs=4e-15)


@EVERY
def test_leading_dimensions(kind):
    rng, axes, _ = sample(kind, 0)
    q = np.array([[kind.random(rng) for _ in range(3)] for _ in range(2)])
    v = rng.normal(size=(2, 3, kind.nv))
    together = (*kind.transform(q, axes), kind.twist(q, v, axes), kind.subspace(q, axes), kind.integrate(q, v), kind.strain(q, 0.0))
    assert [a.shape for a in together] == [(2, 3, *s) for s in ((3,), (4,), (6,), (6, kind.nv), (kind.nq,), (kind.nv,))]
    for i in np.ndindex(2, 3):
        x, w = q[i], v[i]
        alone = (*kind.transform(x, axes), kind.twist(x, w, axes), kind.subspace(x, axes), kind.integrate(x, w), kind.strain(x, 0.0))
        for a, b in zip(together, alone, strict=True):
            assert a[i] == pytest.approx(b, abs=1e-15)


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.elastic], ids=lambda k: k.name)
@SEEDS
def test_strain_is_the_gradient_of_its_energy(kind, seed):
    """d/ds |strain(q exp(s v))|^2/2 = strain . v: the joint force of a stiffness k is -k strain."""
    rng, _, q = sample(kind, seed)
    v, rest = rng.normal(size=kind.nv), 0.3 if kind.has_rest else 0.0
    energy = [0.5 * np.sum(kind.strain(kind.integrate(q, s * v), rest) ** 2) for s in (-STEP, STEP)]
    assert kind.strain(q, rest) @ v == pytest.approx((energy[1] - energy[0]) / (2 * STEP), abs=1e-8)


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3), [0.48, 0.6, 0.64], np.full(3, 3**-0.5)])
def test_default_second_axis_is_perpendicular_and_steady(axis):
    """Round-off in the axis moves the default direction by round-off."""
    axis = np.array(axis)
    axes = KINDS["planar"].axes(axis, None)
    assert isinstance(axes, Axes)
    assert (axes.axis2 @ axis, np.linalg.norm(axes.axis2)) == pytest.approx((0.0, 1.0), abs=1e-15)
    moved = axis + 1e-13 * np.array([1.0, -2.0, 1.5])
    assert KINDS["planar"].axes(moved / np.linalg.norm(moved), None).axis2 == pytest.approx(axes.axis2, abs=1e-12)


def test_planar_takes_x_from_axis2():
    axes = KINDS["planar"].axes(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.6, 0.8]))
    assert axes.axis2 == pytest.approx([0, 1, 0], abs=1e-15)
    assert KINDS["planar"].transform(np.array([2.0, 3.0, 0.0]), axes)[0] == pytest.approx([-3, 2, 0], abs=1e-15)
