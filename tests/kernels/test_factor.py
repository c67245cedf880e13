"""The elimination of Newton's matrix of midpoint and symplectic Euler rule against differences of the residuals, and as mass matrix."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.layout import FACTOR_SIZE, SIDE_SIZE, STEP
from dalembert.kernels.tree.variational.retraction import left_momentum, retract, share
from dalembert.kernels.tree.variational.side import evaluate
from dalembert.model import compile_tree
from dalembert.scenes.trees import floating_chain

pytestmark = pytest.mark.nojit


class Step:
    """Residual of one step with everything at one configuration, and its Newton matrix, from the kernels."""

    def __init__(self, model, h, midpoint):
        self.model, self.h, self.midpoint = model, h, midpoint
        self.system = compile_tree.system_array(model, {})
        n, nq, nv = (int(self.system[k]) for k in (at.LINKS, at.NQ, at.NV))
        self.places, end = {}, compile_tree.work_size(self.system)
        vectors = [(name, nv) for name in ("v", "x", "l", "f", "f_left", "f_right", "e", "dv", "held")] + [("q", nq), ("q_mid", nq)]
        for name, size in [*vectors, ("side", n * SIDE_SIZE), ("factor", n * FACTOR_SIZE)]:
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
        """dtau^-T l - h f_left"""
        s, w = self.system, self.work
        self["q"][:], self["v"][:], self["x"][:] = q, v, self.h * v
        if self.midpoint:
            retract(s, w, *self.at("q", "x", "q_mid"), False, True)
            evaluate(s, w, *self.at("q_mid", "v", "side", "l", "f"), False, True, False)
            share(s, w, *self.at("x", "f", "f_left", "f_right"), False)
        else:
            evaluate(s, w, *self.at("q", "v", "side", "l", "f"), False, True, False)
            self["f_left"][:] = self["f"]
        left_momentum(s, w, self.h, *self.at("x", "l", "f_left", "e"), False)
        return self["e"].copy()

    def factor(self, wl, wr):
        assert factor(self.system, self.work, *self.at("side", "factor", "x", "l", "f"), wl, wr, self.midpoint)

    def inverse(self):
        """What `solve` applies, with the other sign."""
        columns = []
        for e in np.eye(self.model.nv):
            self["e"][:] = e
            solve(self.system, self.work, *self.at("side", "factor", "e", "dv"))
            columns.append(-self["dv"])
        return np.array(columns).T

    def derivative(self, q, v, eps=2e-3):
        """De by differences of fourth order: error eps^4 h^4 from the order, 1e-16/eps from round-off."""
        parts = [[self.residual(q, v + k * eps * d) for k in (1, -1, 2, -2)] for d in np.eye(len(v))]
        return np.array([(8 * (a - b) - (c - d)) / (12 * eps) for a, b, c, d in parts]).T


def tree(kinds, gravity=(0, 0, 0), parents=None, floating=False, **options):
    """Bodies of full inertias on joints of the given kinds; a chain unless parents are given (-1: the root)."""
    m = dal.Model("tree", gravity=gravity)
    inertia = np.array([[0.1, 0.01, -0.02], [0.01, 0.15, 0.03], [-0.02, 0.03, 0.12]])
    if floating:
        m.add_body("b-1", 1.5, inertia, com=(0.1, 0.2, 0.05))
    for i, kind in enumerate(kinds):
        parent = i - 1 if parents is None else parents[i]
        m.add_body(f"b{i}", 1.0 + 0.1 * i, inertia, com=(0.25, 0.1, -0.05), pose=((0.5 * i, 0, 0), dal.quat.exp((0.3 * i, 0.2, 0))))
        above = "world" if parent == -1 and not floating else f"b{parent}"
        m.add_joint(f"j{i}", kind, above, f"b{i}", anchor=(0.5 * i, 0.1, 0), axis=(0.2, 1, 0.3 * i), **options)
    return m.frozen()


def trees(gravity=(0, 0, 0)):
    return {
        "revolute": tree(["revolute"] * 3, gravity),
        "prismatic and revolute": tree(["prismatic", "revolute", "prismatic", "revolute"], gravity),
        "spherical root and inner": tree(["spherical", "spherical", "revolute"], gravity),
        "spherical on moving parents": tree(["revolute", "spherical", "prismatic", "spherical"], gravity),
        "branches": tree(["spherical", "revolute", "prismatic", "spherical"], gravity, [-1, 0, 0, 1], floating=True),
        "armature": tree(["revolute", "prismatic", "spherical"], gravity, armature=0.3),
        "damping": tree(["revolute", "prismatic"], gravity, damping=0.4, armature=0.2),
    }


WITHOUT_GRAVITY = {
    **trees(),
    "floating chain": floating_chain().frozen(),
    "damped ball": tree(["revolute", "spherical"], damping=0.4),
    "stiffness": tree(["revolute", "prismatic", "revolute"], stiffness=3.0, damping=0.1),
}
WITH_GRAVITY = trees((1, 2, -9))


def state(model, seed):
    rng = np.random.default_rng(seed)
    return model.random(rng), rng.normal(size=model.nv)


def defect(model, h, midpoint=True, seed=1):
    """max |De^-1 De - 1| with the inverse by elimination and the derivative by differences."""
    step = Step(model, h, midpoint)
    q, v = state(model, seed)
    De = step.derivative(q, v)
    step.residual(q, v)
    step.factor(*((0.5 * h, 0.5 * h) if midpoint else (h, 0.0)))
    return np.abs(step.inverse() @ De - np.eye(model.nv)).max()


@pytest.mark.parametrize("h", [0.2, 0.01])
@pytest.mark.parametrize("case", WITHOUT_GRAVITY)
def test_midpoint_without_gravity_is_exact(case, h):
    assert defect(WITHOUT_GRAVITY[case], h) < 1e-8


@pytest.mark.parametrize("case", WITH_GRAVITY)
def test_midpoint_with_gravity_is_exact_up_to_h_cubed(case):
    steps = np.array([0.05, 0.025, 0.0125, 0.00625])
    defects = np.array([defect(WITH_GRAVITY[case], h) for h in steps])
    assert defects[0] < 0.05
    assert np.polyfit(np.log(steps), np.log(defects), 1)[0] > 2.7


@pytest.mark.parametrize("h", [0.1, 0.01])
@pytest.mark.parametrize("case", WITH_GRAVITY)
def test_symplectic_euler_is_exact(case, h):
    """Gravity is taken at the first node: it does not depend on the velocity."""
    assert defect(WITH_GRAVITY[case], h, midpoint=False) < 1e-8


@pytest.mark.parametrize("case", WITH_GRAVITY)
def test_weights_of_zero_give_the_mass_matrix(case):
    model = WITH_GRAVITY[case]
    step = Step(model, 0.0, False)
    q, v = state(model, 5)
    step.residual(q, v)
    step.factor(0.0, 0.0)
    M = model.mass_matrix(q)
    assert step.inverse() @ M == pytest.approx(np.eye(model.nv), abs=1e-12 * np.linalg.cond(M))
