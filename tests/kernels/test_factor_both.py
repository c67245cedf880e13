"""The elimination of Newton's matrix of the trapezoidal rule against differences of the residual, and Newton's method with it."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.variational.both_layout import BOTH_SIZE
from dalembert.kernels.tree.variational.factor_both import factor_both, solve_both
from dalembert.kernels.tree.variational.layout import SIDE_SIZE, STEP
from dalembert.kernels.tree.variational.retraction import left_momentum, retract
from dalembert.kernels.tree.variational.side import evaluate
from dalembert.model import compile_tree
from dalembert.scenes.trees import floating_chain

pytestmark = pytest.mark.nojit


class Trapezoidal:
    """Residual of one step and its Newton matrix, from the kernels."""

    def __init__(self, model, h):
        self.model, self.h = model, h
        self.system = compile_tree.system_array(model, {})
        n, nq, nv = (int(self.system[k]) for k in (at.LINKS, at.NQ, at.NV))
        self.places, end = {}, compile_tree.work_size(self.system)
        vectors = [(name, nv) for name in ("v", "x", "l", "l_1", "f", "f_1", "e", "dv", "held")] + [("q", nq), ("q_1", nq)]
        for name, size in [*vectors, ("side", n * SIDE_SIZE), ("side_1", n * SIDE_SIZE), ("factor", n * BOTH_SIZE)]:
            self.places[name] = slice(end, end + size)
            end += size
        self.work = np.full(end, np.nan)  # nothing may be read before it is written
        self["held"][:] = 0.0
        data = np.zeros(STEP.size)
        for name, number in {"links": n, "nv": nv, "held": self.places["held"].start}.items():
            data[STEP.names.index(name)] = number
        self.system[at.STEPPER_DATA] = len(self.system)
        self.system = np.concatenate([self.system, data])

    def at(self, *names):
        return [self.places[name].start for name in names]

    def __getitem__(self, name):
        return self.work[self.places[name]]

    def residual(self, q, v):
        """dtau^-T (l + l')/2 - h/2 f"""
        s, w = self.system, self.work
        self["q"][:], self["v"][:], self["x"][:] = q, v, self.h * v
        evaluate(s, w, *self.at("q", "v", "side", "l", "f"), False, True, False)
        retract(s, w, *self.at("q", "x", "q_1"), False, False)
        evaluate(s, w, *self.at("q_1", "v", "side_1", "l_1", "f_1"), False, False, False)
        self["l"][:] = 0.5 * (self["l"] + self["l_1"])
        self["f"][:] *= 0.5
        left_momentum(s, w, self.h, *self.at("x", "l", "f", "e"), False)
        return self["e"].copy()

    def factor(self):
        return factor_both(self.system, self.work, *self.at("side", "side_1", "factor", "x", "l"), self.h)

    def solve(self, e):
        self["e"][:] = e
        solve_both(self.system, self.work, *self.at("side", "side_1", "factor", "e", "dv"))
        return self["dv"].copy()

    def inverse(self, q, v):
        """De^-1 by the elimination."""
        self.residual(q, v)
        assert self.factor()
        return -np.array([self.solve(e) for e in np.eye(len(v))]).T

    def derivative(self, q, v, eps=2e-3):
        """De by differences of fourth order: error eps^4 h^4 from the order, 1e-16/eps from round-off."""
        parts = [[self.residual(q, v + k * eps * d) for k in (1, -1, 2, -2)] for d in np.eye(len(v))]
        return np.array([(8 * (a - b) - (c - d)) / (12 * eps) for a, b, c, d in parts]).T


def tree(kinds, parents=None, floating=False, **options):
    """Bodies of full inertias on joints of the given kinds; a chain unless parents are given (-1: the root)."""
    m = dal.Model("tree", gravity=(1, 2, -9))
    inertia = np.array([[0.1, 0.01, -0.02], [0.01, 0.15, 0.03], [-0.02, 0.03, 0.12]])
    if floating:
        m.add_body("b-1", 1.5, inertia, com=(0.1, 0.2, 0.05))
    for i, kind in enumerate(kinds):
        parent = i - 1 if parents is None else parents[i]
        m.add_body(f"b{i}", 1.0 + 0.1 * i, inertia, com=(0.25, 0.1, -0.05), pose=((0.5 * i, 0, 0), dal.quat.exp((0.3 * i, 0.2, 0))))
        above = "world" if parent == -1 and not floating else f"b{parent}"
        axis2 = (1, -0.2, 0) if kind == "universal" else None
        m.add_joint(f"j{i}", kind, above, f"b{i}", anchor=(0.5 * i, 0.1, 0), axis=(0.2, 1, 0.3 * i), axis2=axis2, **options)
    return m


CASES = {
    "floating chain without gravity": floating_chain,
    "revolute": lambda: tree(["revolute"] * 3),
    "prismatic and revolute": lambda: tree(["prismatic", "revolute", "prismatic", "revolute"]),
    "one spherical": lambda: tree(["spherical"]),
    "spherical root and inner": lambda: tree(["spherical", "spherical", "revolute"]),
    "spherical on moving parents": lambda: tree(["revolute", "spherical", "prismatic", "spherical"]),
    "compound": lambda: tree(["cylindrical", "universal", "revolute"]),
    "branches": lambda: tree(["spherical", "revolute", "prismatic", "spherical"], [-1, 0, 0, 1], floating=True),
    "two trees": lambda: tree(["revolute", "prismatic", "spherical", "revolute"], [-1, 0, -1, 2]),
    "armature and damping": lambda: tree(["revolute", "prismatic", "spherical"], armature=0.3, damping=0.4, stiffness=2.0),
}


def state(model, seed):
    rng = np.random.default_rng(seed)
    return model.random(rng), rng.normal(size=model.nv)


@pytest.mark.parametrize("h", [0.2, 0.01])
@pytest.mark.parametrize("case", CASES)
def test_inverse_of_the_derivative(case, h):
    model = CASES[case]().frozen()
    step = Trapezoidal(model, h)
    q, v = state(model, 1)
    assert step.inverse(q, v) @ step.derivative(q, v) == pytest.approx(np.eye(model.nv), abs=1e-8)


def test_far_from_the_origin():
    """Lever arms are measured from the root of the tree, so a base that is far away costs no digits of the matrix."""
    model = CASES["branches"]().frozen()
    step = Trapezoidal(model, 0.1)
    q, v = state(model, 2)
    near = step.inverse(q, v)
    q[:3] += 1e6
    assert step.inverse(q, v) == pytest.approx(near, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("case", ["revolute", "spherical on moving parents", "branches"])
def test_newton_converges_quadratically(case):
    """Errors e, C e^2, C^3 e^4 ...: observed order near 2 above round-off (a matrix that is not exact gives 1)."""
    model = CASES[case]().frozen()
    step = Trapezoidal(model, 0.1)
    q, solution = state(model, 3)
    p = step.residual(q, solution)
    v = solution + 1.0
    errors = []
    for _ in range(6):
        e = step.residual(q, v) - p
        assert step.factor()
        v = v + step.solve(e)
        errors.append(np.abs(v - solution).max())
    assert errors[-1] < 1e-12
    a, b, c = [e for e in errors if e > 1e-11][-3:]
    assert np.log(c / b) / np.log(b / a) > 1.7


def test_a_frozen_factor_is_not_used_up():
    """Solutions with the same factor repeat bitwise, whatever was solved, and evaluated, in between."""
    model = CASES["branches"]().frozen()
    step = Trapezoidal(model, 0.1)
    q, v = state(model, 4)
    first = step.inverse(q, v)
    step.residual(q, 2 * v)
    assert np.array_equal(first, -np.array([step.solve(e) for e in np.eye(model.nv)]).T)


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_a_joint_that_moves_no_inertia_is_reported(kind):
    """A point mass at the joint: Model refuses such a body, so the link's record is changed."""
    m = dal.Model("point")
    m.add_body("b", 1.0, (1, 1, 1))
    m.add_joint("j", kind, "world", "b", axis=(0, 0, 1))
    step = Trapezoidal(m.frozen(), 0.1)
    step.system[at.HEADER + at.INERTIA : at.HEADER + at.INERTIA + 6] = 0
    step.residual(m.neutral(), np.ones(m.nv))
    assert not step.factor()
