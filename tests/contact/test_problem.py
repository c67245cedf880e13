"""What a step is made of, and the judge that solvers are held to."""

import numpy as np
import pytest

from dalembert.contact.problem import BOXED, CONE, UNILATERAL, StepProblem, project_on_cones
from dalembert.contact.step_samples import chain, heap, mixed, pyramid
from dalembert.errors import OptionError


def changed(problem, **values):
    fields = ("bodies", "kind", "first", "J", "b", "sigma", "mu", "masses", "inverse", "free", "low", "high", "start", "lam")
    return StepProblem(**{**{name: getattr(problem, name) for name in fields}, **values})


def test_the_dense_form_has_the_velocities_of_the_sparse_one():
    p = mixed(0)
    lam = np.random.default_rng(0).normal(size=len(p.J))
    W, q = p.dense()
    u = p.jacobian() @ p.velocities(lam) + p.b + p.sigma * lam
    np.testing.assert_allclose(W @ lam + q, u, rtol=0, atol=1e-11 * np.abs(u).max())


def test_rows_of_a_contact_give_the_rate_of_its_gap():
    """A box that falls at 1 m/s onto one that turns: rate of b minus that of a at the point, along the normal."""
    p = pyramid(2)
    v = np.zeros((3, 6))
    v[2, 5], v[0, 1] = -1.0, 3.0
    c = int(np.flatnonzero((p.bodies == (0, 2)).all(axis=1))[0])
    rate = (p.jacobian() @ v.ravel())[3 * c : 3 * c + 3]
    arm = np.linalg.lstsq(np.cross(np.eye(3), [0, 0, 1]).T, -p.J[3 * c, :3], rcond=None)[0]  # x, y of the point from centre 0
    assert rate[0] == pytest.approx(-1.0 + 3.0 * abs(arm[0]) * np.sign(arm[0]) * np.sign(p.J[3 * c, 1] * arm[0]), abs=1e-12)


@pytest.mark.parametrize("u, lam, residual", [(0.0, 2.0, 0.0), (1.0, 0.0, 0.0), (-0.5, 0.0, 0.5), (0.25, 2.0, 0.25), (0.0, -1.0, 1.0)])
def test_the_residual_of_one_row_is_that_of_its_law(u, lam, residual):
    """One row on a body of mass 1 along v_z: D = 1, u = b + lam."""
    J = np.zeros((1, 12))
    J[0, 11] = 1.0
    one = np.eye(6)[None]
    p = StepProblem([[-1, 0]], [UNILATERAL], [0, 1], J, [u - lam], [0.0], [0.0], one, one, np.zeros(6), lam=[lam])
    assert p.natural_residual() == pytest.approx(residual, abs=1e-15)


def test_the_residual_of_sliding_differs_between_the_laws():
    """lam on the edge against u_t = (v, 0), u_n = 0: exact by Coulomb; by the associated law the contact must lift at mu v."""
    J = np.zeros((3, 12))
    J[0, 11] = J[1, 9] = J[2, 10] = 1.0
    one, mu, v = np.eye(6)[None], 0.5, 0.3
    lam = np.array([1.0, -mu, 0.0])
    p = StepProblem([[-1, 0]], [CONE], [0, 3], J, np.array([0.0, v, 0.0]) - lam, np.zeros(3), [mu], one, one, np.zeros(6), lam=lam)
    assert p.natural_residual(law="coulomb") < 1e-15
    assert p.natural_residual() > 0.1 * v


def test_projections_of_many_cones_are_nearest_points():
    rng = np.random.default_rng(0)
    y, mu = rng.normal(size=(50, 3)), rng.uniform(0.1, 1.0, size=50)
    P = project_on_cones(y, mu)
    assert (np.hypot(P[:, 1], P[:, 2]) <= mu * P[:, 0] + 1e-14).all()
    np.testing.assert_allclose(((y - P) * P).sum(axis=1), 0.0, atol=1e-14)  # Moreau: P and y - P are orthogonal ...
    polar = y - P
    assert (polar[:, 0] + mu * np.hypot(polar[:, 1], polar[:, 2]) <= 1e-14).all()  # ... and y - P is in the polar cone


@pytest.mark.parametrize(
    "values, words",
    [
        ({"kind": np.full(40, 7)}, "0 ... 3"),
        ({"mu": np.full(40, -1.0)}, "mu >= 0"),
        ({"b": np.zeros(3)}, "b has shape"),
        ({"bodies": np.zeros((40, 2))}, "joins bodies"),
        ({"first": np.arange(41)}, "first must rise"),
    ],
)
def test_what_cannot_be_a_step_is_refused(values, words):
    with pytest.raises(OptionError, match=words.replace("...", r"\.\.\.")):
        changed(mixed(0), **values)


def test_wrong_numbers_are_refused():
    p = mixed(0)
    J = p.J.copy()
    J[0, 0] = np.nan
    with pytest.raises(OptionError, match="J holds"):
        changed(p, J=J)
    with pytest.raises(OptionError, match="low <= high"):
        changed(p, low=p.high + 1.0)
    kind = p.kind.copy()
    kind[np.flatnonzero(np.diff(p.first) == 3)[0]] = BOXED
    with pytest.raises(OptionError, match="boxed"):
        changed(p, kind=kind)


def test_samples_are_what_they_say():
    p = pyramid(44)
    assert (len(p.masses), len(p.kind)) == (990, 7744)
    assert len({tuple(b) for b in p.bodies.tolist() if b[0] >= 0}) == 1892
    assert len(heap(0, twice=True).kind) == 2 * len(heap(0).kind)
    masses = heap(0, ratio=1e4).masses[:, 5, 5]
    assert masses.max() / masses.min() > 1e3
    assert len(chain(4).J) == 12
