"""A variational method for trees is one file: this one adds the Euler rule at the end of the step, L_d = h L(q_k+1, v).

It is the adjoint of symplectic Euler: a step by h undoes a step of that by -h.
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert import registry
from dalembert.kernels.tree.variational.layout import SECOND
from dalembert.steppers.variational._entry import enter

NAME = "euler-at-the-end"


@pytest.fixture(scope="module", autouse=True)
def method():
    registry.load_all()
    enter(
        SECOND,
        name=NAME,
        summary="variational Euler rule at the second node: order 1, symplectic",
        order=1,
        conserves=("momentum: exactly", "energy: bounded", "attitude: exactly"),
        references=("marsden2001",),
        rank=9,
    )
    yield
    del registry._steppers["tree", NAME]
    registry._version += 1


def arm(gravity=(0.0, 0.0, -9.81)):
    """A free body that carries two rods and a slide."""
    m = dal.Model(gravity=gravity)
    m.add_body("hull", 2.0, (0.2, 0.3, 0.4), com=(0.1, 0, 0))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.02), com=(0, 0, -0.5), pose=((0.3, 0, 0), (1, 0, 0, 0)))
    m.add_body("slide", 0.5, (0.02, 0.02, 0.02), pose=((0.3, 0, -1), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "hull", "rod", anchor=(0.3, 0, 0), axis=(0, 1, 0))
    m.add_joint("rail", "prismatic", "rod", "slide", anchor=(0.3, 0, -1), axis=(0, 0, 1), stiffness=30.0)
    return m


V0 = np.array([0.3, -0.2, 0.5, 0.1, 0.2, 0.0, 1.0, -0.3])


def end(stepper, h, t=0.4):
    traj = dal.simulate(arm(), stepper, h=h, t_end=t, v0=V0)
    return np.concatenate([traj.q[-1], traj.v[-1]])


def test_it_has_order_one():
    """Halving h halves the error; the reference has order 4 and an error of 1e-9."""
    exact = end("mk4", 1e-3)
    errors = [np.linalg.norm(end(NAME, h) - exact) for h in (4e-3, 2e-3, 1e-3)]
    assert 0.9 < np.log2(errors[0] / errors[1]) < 1.1
    assert 0.9 < np.log2(errors[1] / errors[2]) < 1.1


def test_it_is_the_adjoint_of_symplectic_euler():
    """Half steps of the two, one behind the other, are a rule of order 2 that is its own reverse."""
    exact = end("mk4", 1e-3)
    errors = []
    for h in (8e-3, 4e-3):
        q, v = arm().neutral(), V0
        for _ in range(round(0.4 / h)):
            for stepper in ("symplectic-euler", NAME):
                traj = dal.simulate(arm(), stepper, h=h / 2, t_end=h / 2, q0=q, v0=v)
                q, v = traj.q[-1], traj.v[-1]
        errors.append(np.linalg.norm(np.concatenate([q, v]) - exact))
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


def test_it_keeps_momentum_and_its_report_says_so():
    traj = dal.simulate(arm(gravity=(0, 0, 0)), NAME, h=0.01, t_end=5.0, v0=V0)
    np.testing.assert_allclose(traj.momentum, np.broadcast_to(traj.momentum[0], traj.momentum.shape), atol=1e-11)
    assert traj.report().verdict == "pass"


def test_it_can_be_composed_saved_and_resumed(tmp_path):
    path = tmp_path / "run.h5"
    whole = dal.simulate(arm(), NAME, h=0.004, t_end=0.4, v0=V0)
    dal.simulate(arm(), NAME, h=0.004, t_end=0.2, v0=V0, save=path)
    np.testing.assert_array_equal(dal.resume(path, 0.4).q, whole.q)
