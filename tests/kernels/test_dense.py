"""Dense derivatives of momenta and forces of the midpoint rule against differences: every entry, on branched trees of hinges and slides."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.variational.dense import factor_dense, follow, solve_dense
from dalembert.kernels.tree.variational.layout import FACTOR_SIZE, SIDE_SIZE, STEP
from dalembert.kernels.tree.variational.side import evaluate
from dalembert.model import compile_tree

pytestmark = pytest.mark.nojit
H = 0.1


def machine(kinds: str) -> dal.Model:
    """One body per letter (r, p), each on the one before but the third, which branches off the first, and the fifth, on the world."""
    rng = np.random.default_rng(len(kinds))
    m = dal.Model(kinds, gravity=(0.4, -0.3, -9.0))
    for k, kind in enumerate(kinds):
        m.add_body(f"b{k}", 1.0 + k, rng.uniform(0.2, 0.3, 3), com=rng.uniform(-0.2, 0.2, 3), pose=(rng.uniform(-1, 1, 3), (1, 0, 0, 0)))
        parent = "world" if k in (0, 4) else ("b0" if k == 2 else f"b{k - 1}")
        more = {"stiffness": 3.0 * k, "damping": 0.2 * k, "armature": 0.1 * k}
        name = "revolute" if kind == "r" else "prismatic"
        m.add_joint(f"j{k}", name, parent, f"b{k}", rng.uniform(-1, 1, 3), rng.normal(size=3), **more)
    return m.frozen()


class Side:
    """dL/dv and forces at the middle of a step, and their derivatives, from the kernels."""

    def __init__(self, model):
        self.system = compile_tree.system_array(model, {})
        self.n = n = int(self.system[at.LINKS])
        self.places, end = {}, compile_tree.work_size(self.system)
        for name, size in [
            *((x, n) for x in ("q", "v", "l", "f", "g", "e", "dv", "held")),
            ("side", n * SIDE_SIZE),
            ("factor", n * FACTOR_SIZE),
            ("J", 2 * n * n),
        ]:
            self.places[name] = slice(end, end + size)
            end += size
        self.work = np.full(end, np.nan)  # nothing may be read before it is written
        self["held"][:] = 0.0
        data = np.zeros(STEP.size)
        for name, number in {"links": n, "nv": n, "held": self.places["held"].start}.items():
            data[STEP.names.index(name)] = number
        self.system[at.STEPPER_DATA] = len(self.system)
        self.system = np.concatenate([self.system, data])
        self.work[: int(self.system[at.AT_FREE])] = 0.0

    def at(self, *names):
        return [self.places[name].start for name in names]

    def __getitem__(self, name):
        return self.work[self.places[name]]

    def __call__(self, q, v):
        """(dL/dv, forces) at q + h v/2"""
        self["q"][:], self["v"][:] = q + 0.5 * H * v, v
        evaluate(self.system, self.work, *self.at("q", "v", "side", "l", "f"), False, True, False)
        return np.array([self["l"], self["f"]])

    def differences(self, q, v, d=1e-5):
        """Central differences of both by v: error d^2 = 1e-10 and round-off 1e-16/d = 1e-11, times some tens."""
        return np.array([(self(q, v + dv) - self(q, v - dv)) / (2 * d) for dv in d * np.eye(self.n)]).transpose(1, 2, 0)


@pytest.mark.parametrize("kinds", ["r", "p", "rr", "rp", "pr", "rrr", "rprrpr", "rrrrrrrr"])
def test_derivatives(kinds):
    side = Side(machine(kinds))
    rng = np.random.default_rng(1)
    q, v, e = rng.normal(size=(3, side.n))
    dl, df = side.differences(q, v)
    side(q, v)
    assert factor_dense(side.system, side.work, *side.at("side", "factor", "J"), 0.5 * H, 0.5 * H)
    np.testing.assert_allclose(side["J"][side.n**2 :].reshape(side.n, side.n), df, rtol=0, atol=1e-8 * max(1.0, np.abs(df).max()))
    side["e"][:] = e
    solve_dense(side.work, *side.at("J"), side.n, *side.at("e", "dv"))
    np.testing.assert_allclose((dl - 0.5 * H * df) @ side["dv"], -e, rtol=0, atol=1e-7)


def test_forces_follow_a_small_correction():
    """Half of the change at each node, up to the square of the correction."""
    side = Side(machine("rprrpr"))
    rng = np.random.default_rng(2)
    q, v, dv = rng.normal(size=(3, side.n))
    dv *= 1e-6
    f = side(q, v)[1].copy()
    factor_dense(side.system, side.work, *side.at("side", "factor", "J"), 0.5 * H, 0.5 * H)
    side["dv"][:], side["e"][:], side["g"][:] = dv, 0.5 * f, 0.5 * f
    follow(side.work, *side.at("J"), side.n, *side.at("dv", "e", "g"))
    assert (side["e"] == side["g"]).all()
    np.testing.assert_allclose(2 * side["e"], side(q, v + dv)[1], rtol=0, atol=1e-10 * np.abs(f).max())


def test_a_joint_that_moves_nothing_is_singular():
    side = Side(machine("r"))
    link = side.system[at.HEADER : at.HEADER + at.LINK_SIZE]
    link[at.MASS], link[at.MOMENT : at.MOMENT + 3], link[at.INERTIA : at.INERTIA + 6] = 0.0, 0.0, 0.0
    side(np.zeros(1), np.ones(1))
    assert not factor_dense(side.system, side.work, *side.at("side", "factor", "J"), 0.5 * H, 0.5 * H)
