"""Constants of trees: published-size table, and no sampled value beyond a bound, entry by entry and in norm."""

import numpy as np
import pytest

from dalembert.model import Model
from dalembert.solvability.tensor_norm import norm3, norm4
from dalembert.solvability.tree_constants import all_constants, default_reach, energy_rows
from dalembert.solvability.tree_entries import entries, planar, planar_entries
from dalembert.solvability.tree_geometry import geometry
from dalembert.solvability.tree_step import dense_tree, terms

Z, Y = (0, 0, 1), (0, 1, 0)
# model: coordinates, m1 by rows of B, m1, m2, l0 by fibres, l2; digits as far as they are known
TABLE = {
    "planar 3R": ((3, 1.0, None), "relative", 0.0257, 0.0378, 11.77, 15.7, 28.8),
    "planar 3R, absolute": ((3, 1.0, None), "absolute", None, 0.1013, 3.565, 2.52, 3.14),
    "planar 6R": ((6, 1.0, None), "relative", 0.0221, 0.0251, 143.3, 267, 639),
    "4R z y z y": ((4, 0.5, (Z, Y, Z, Y)), "relative", 0.0059, 0.0059, 8.15, 20.8, 58),
}


def same_digits(value, printed):
    """Equal when rounded to as many digits as the printed number has."""
    digits = len(str(printed).removeprefix("0.").lstrip("0").replace(".", ""))
    return float(f"{value:.{digits}g}") == pytest.approx(printed, rel=1e-9)


def tree_with_reach(m, q=None):
    tree = dense_tree(m)
    limits = [j.limits if j.coordinates.nv == 1 else None for j in m.joints for _ in range(j.coordinates.nv)]
    return tree, default_reach(tree, np.zeros(tree.n) if q is None else q, limits)


def sample(tree, reach, rng, count):
    q = rng.uniform(-np.pi, np.pi, (count, tree.n))
    return np.where(tree.revolute, q, rng.uniform(-1.0, 1.0, q.shape) * reach)


def second_derivative(tree, q, e=1e-5):
    """[..., k, l, i, j] by central differences of the exact dM: error 1e-9."""
    steps = np.eye(tree.n) * e
    return np.stack([(terms(tree, q + d).dM - terms(tree, q - d).dM) / (2.0 * e) for d in steps], axis=-4)


def largest_form(T, rng):
    """The norm of a multilinear form from below, by alternating maximisation from a random start."""
    vectors = [rng.normal(size=T.shape[0]) for _ in range(T.ndim)]
    value = 0.0
    for _ in range(20):
        for k in range(T.ndim):
            A = np.moveaxis(T, k, 0)
            for x in reversed([x for j, x in enumerate(vectors) if j != k]):
                A = A @ x
            value = np.linalg.norm(A)
            vectors[k] = A / value if value > 0.0 else vectors[k]
    return value


@pytest.mark.parametrize("name", TABLE)
def test_constants_agree_with_the_table(rods, name):
    (n, length, axes), coordinates, by_rows, m1, m2, l0, l2 = TABLE[name]
    tree, reach = tree_with_reach(rods(n, length, axes))
    c = {c.name: c for c in all_constants(tree, reach)}[coordinates]
    geo = geometry(tree, reach)
    found = entries(tree, geo) if coordinates == "relative" else planar_entries(planar(tree, geo).Z)
    fibres = min(np.linalg.norm(np.sqrt(np.sum(found.T3**2, axis=k)), 2) for k in range(3))
    assert same_digits(c.m1, m1)
    assert same_digits(c.m2, m2)
    assert same_digits(fibres, l0)
    assert c.l0 <= fibres * (1 + 1e-9)  # other groupings may be sharper
    assert same_digits(c.l2, l2)
    assert c.l1 == c.l0
    if by_rows is not None:
        assert same_digits(1.0 / np.linalg.norm(energy_rows(tree, reach), 2) ** 2, by_rows)


@pytest.mark.parametrize("seed", range(12))
def test_no_sampled_value_exceeds_its_bound(random_tree, seed):
    rng = np.random.default_rng(seed)
    kinds = (("revolute", "prismatic"), ("revolute", "universal", "cylindrical"), ("revolute",), ("prismatic", "planar"))[seed % 4]
    m = random_tree(rng, int(rng.integers(2, 5)), kinds, parallel=seed % 4 == 2)
    tree, reach = tree_with_reach(m)
    geo = geometry(tree, reach)
    found, flat = entries(tree, geo), planar(tree, geo)
    q = sample(tree, reach, rng, 100)
    at, bend = terms(tree, q), second_derivative(tree, q)
    dM = at.dM
    christoffel = 0.5 * (np.einsum("...ikj->...kij", dM) + np.einsum("...jki->...kij", dM) - dM)
    room = 1e-8  # differences of dM
    assert np.all(np.abs(at.M - np.diag(tree.armature)) <= found.M * (1 + 1e-12) + 1e-12)
    assert np.all(np.abs(dM) <= found.T3 * (1 + 1e-12) + 1e-12)
    assert np.all(np.abs(christoffel) <= found.G * (1 + 1e-12) + 1e-12)
    assert np.all(np.abs(bend) <= found.T4 + room)
    assert (flat is not None) == (seed % 4 == 2)
    for c in all_constants(tree, reach):
        V = c.T_inv
        values = np.linalg.eigvalsh(V.T @ at.M @ V)
        assert c.m1 <= np.min(values) * (1 + 1e-9), c.name
        assert np.max(values) <= c.m2 * (1 + 1e-9), c.name
        for k in range(0, 100, 10):
            third = np.einsum("kij,ka,ib,jc->abc", dM[k], V, V, V)
            symbols = np.einsum("kij,ka,ib,jc->abc", christoffel[k], V, V, V)
            fourth = np.einsum("klij,ka,lb,ic,jd->abcd", bend[k], V, V, V, V, optimize=True)
            assert largest_form(third, rng) <= c.l0 * (1 + 1e-9), c.name
            assert largest_form(symbols, rng) <= c.c1 * (1 + 1e-9), c.name
            assert largest_form(fourth, rng) <= c.l2 + room, c.name


@pytest.mark.parametrize("seed", range(4))
def test_planar_form_of_the_mass_matrix(random_tree, seed):
    """M = S^T Re(z* Z z) S + armature, z = exp(i S q), for bent links and axes of both signs."""
    rng = np.random.default_rng(100 + seed)
    tree, reach = tree_with_reach(random_tree(rng, 4, ("revolute",), parallel=True))
    flat = planar(tree, geometry(tree, reach))
    for q in sample(tree, reach, rng, 20):
        z = np.exp(1j * (flat.S @ q))
        M = flat.S.T @ np.real(np.conj(z)[:, None] * flat.Z * z) @ flat.S + np.diag(tree.armature)
        np.testing.assert_allclose(M, terms(tree, q).M, atol=1e-13 * np.max(np.abs(M)) * 10)


def test_norms_of_forms_are_bounded():
    rng = np.random.default_rng(5)
    for n in (1, 2, 4):
        T3 = rng.uniform(size=(n, n, n))
        T4 = rng.uniform(size=(n, n, n, n))
        T4 = T4 + T4.transpose(1, 0, 2, 3)
        T4 = T4 + T4.transpose(0, 1, 3, 2)
        assert largest_form(T3, rng) <= norm3(T3)
        assert largest_form(T4, rng) <= norm4(T4)
    outer = np.einsum("i,j,k->ijk", *(rng.uniform(size=(3, 4))))
    assert norm3(outer) == pytest.approx(
        np.prod([np.linalg.norm(x) for x in (outer.sum((1, 2)), outer.sum((0, 2)), outer.sum((0, 1)))]) / np.sum(outer) ** 2, rel=1e-9
    )


def test_one_link_and_a_fixed_body_have_a_constant_mass_matrix(rods):
    m = rods(1)
    m.add_body("tool", 0.3, (0.01, 0.01, 0.01), pose=((1.2, 0, 0), (1, 0, 0, 0)))
    m.add_joint("weld", "fixed", "rod 0", "tool", anchor=(1, 0, 0))
    tree, reach = tree_with_reach(m)
    for c in all_constants(tree, reach):
        assert c.l0 == c.l2 == c.c1 == 0.0
    plain = next(all_constants(tree, reach))
    exact = 1 / 3 + 0.3 * 1.2**2 + 0.01
    assert plain.m1 == pytest.approx(exact, rel=1e-9)
    assert plain.m2 == pytest.approx(exact, rel=1e-9)


def test_armature_only_helps(rods):
    without = {c.name: c for c in all_constants(*tree_with_reach(rods(3)))}
    with_rotors = {c.name: c for c in all_constants(*tree_with_reach(rods(3, armature=0.05)))}
    for name in ("relative", "absolute"):
        assert with_rotors[name].m1 > without[name].m1
        assert with_rotors[name].l0 == pytest.approx(without[name].l0)
    assert with_rotors["relative"].m1 >= without["relative"].m1 + 0.05 * (1 - 1e-9)


def test_damping_enters_l4_and_k1(rods):
    m = rods(3)
    for c in all_constants(*tree_with_reach(m)):
        assert c.l4 == c.k1 == 0.0
    c = next(all_constants(*tree_with_reach(rods(3, damping=0.7))))
    assert (c.l3, c.l4, c.k1, c.l5, c.l6) == pytest.approx((0.0, 0.7, 0.7, 0.0, 0.0))


def test_massless_link_of_a_universal_joint_has_a_bound():
    m = Model("crane")
    m.add_body("arm", 1.0, (0.1, 0.2, 0.25), com=(0.1, 0, 0))
    m.add_joint("cardan", "universal", "world", "arm", axis=(1, 0, 0), axis2=(0.3, 1, 0))
    tree, reach = tree_with_reach(m)
    lowest = np.min(np.linalg.eigvalsh(terms(tree, sample(tree, reach, np.random.default_rng(0), 2000)).M))
    m1 = next(all_constants(tree, reach)).m1
    assert 0.2 * lowest < m1 <= lowest


def test_parallel_axes_stay_parallel_across_a_slide():
    """Hinge z, slide x, hinge z: rotations are about one direction, so offsets along z never count."""
    m = Model("scara")
    for k, (kind, axis) in enumerate((("revolute", (0, 0, 1)), ("prismatic", (1, 0, 0)), ("revolute", (0, 0, -1)))):
        m.add_body(f"b{k}", 1.0, (0.1, 0.1, 0.1), pose=((0, 0, 5.0 * k), (1, 0, 0, 0)))
        parent = "world" if k == 0 else f"b{k - 1}"
        m.add_joint(f"j{k}", kind, parent, f"b{k}", anchor=(0, 0, 5.0 * k), axis=axis, limits=(0, 1) if kind == "prismatic" else None)
    tree, reach = tree_with_reach(m)
    geo = geometry(tree, reach)
    assert geo.sine[0, 2] == 0.0
    assert geo.across[0, 2] == pytest.approx(reach[1])
    assert geo.full[0, 2] > 10.0
