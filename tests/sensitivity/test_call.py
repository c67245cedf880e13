"""The call itself: shapes, products with vectors, what is kept, and what is refused."""

import threading
import time

import numpy as np
import pytest

import dalembert as dal


@pytest.fixture
def found(chain):
    rng = np.random.default_rng(1)
    return dal.derivatives(chain(4), *rng.standard_normal((3, 4)), 0.01, params=("b0.mass", "gravity"))


def test_blocks_are_parts_of_the_whole(found):
    assert found.A.shape == (8, 8) and found.B.shape == (8, 4) and found.C.shape == (8, 4)
    assert np.array_equal(np.block([[found.A_qq, found.A_qv], [found.A_vq, found.A_vv]]), found.A)
    assert np.array_equal(np.vstack([found.B_q, found.B_v]), found.B) and np.array_equal(np.vstack([found.C_q, found.C_v]), found.C)
    assert found.parameters == ("b0.mass", "gravity.x", "gravity.y", "gravity.z")
    assert found.names[4:] == found.inputs and len(found.names) == 8


def test_products_with_vectors_agree(found):
    rng = np.random.default_rng(2)
    changes = rng.standard_normal((5, 4)), rng.standard_normal((5, 4)), rng.standard_normal((5, 4)), rng.standard_normal((5, 4))
    dq, dv = found.jvp(*changes)
    w = rng.standard_normal(8)
    back = found.vjp(w)
    forwards = np.concatenate([dq, dv], axis=-1) @ w
    assert len(back) == 4 and np.allclose(forwards, sum(x @ y for x, y in zip(changes, back, strict=True)), rtol=1e-13)
    assert np.array_equal(found.jvp(dv=np.eye(4)[0])[0], found.A_qv[:, 0]) and np.array_equal(found.jvp()[0], np.zeros(4))
    assert found.vjp(np.eye(8))[1].shape == (8, 4)


@pytest.mark.parametrize("wrong", [np.zeros(3), np.full(4, np.nan), 1.0])
def test_vectors_of_other_sizes_are_refused(found, wrong):
    with pytest.raises(dal.OptionError, match="dq has the shape"):
        found.jvp(dq=wrong)
    with pytest.raises(dal.OptionError, match="w has the shape"):
        found.vjp(wrong)


def test_the_gradient_of_a_rollout_is_that_of_the_simulator(chain):
    """Twenty steps backwards by vjp: the slope of the last height along a force that is held."""
    m, N, h = chain(3).frozen(), 20, 0.01
    q, v, tau = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.4, -0.3]), np.array([0.5, -0.2, 0.1])
    steps, x = [], (q, v)
    for _ in range(N):
        steps.append(dal.derivatives(m, *x, tau, h))
        x = steps[-1].q_next, steps[-1].v_next
    w, by_tau = np.array([1.0, 2.0, 3.0, 0, 0, 0]), np.zeros(3)
    for step in reversed(steps):
        a, b, c = step.vjp(w)
        w, by_tau = np.concatenate([a, b]), by_tau + c
    value = lambda tau: dal.simulate(m, "midpoint", h=h, t_end=N * h, q0=q, v0=v, control=np.tile(tau, (N, 1))).q[-1] @ [1.0, 2.0, 3.0]  # noqa: E731
    judge = [(value(tau + e) - value(tau - e)) / 2e-4 for e in 1e-4 * np.eye(3)]
    assert np.allclose(by_tau, judge, rtol=1e-7)


def test_the_next_node_is_that_of_the_run(chain):
    m = chain(5)
    q, v, tau = np.random.default_rng(3).standard_normal((3, 5))
    found = dal.derivatives(m, q, v, tau, 0.01, "trapezoidal")
    run = dal.simulate(m, "trapezoidal", h=0.01, t_end=0.01, q0=q, v0=v, control=tau[None])
    assert np.array_equal(found.q_next, run.q[-1]) and np.array_equal(found.v_next, run.v[-1])


def test_names_of_joints_may_stand_for_states(chain):
    named = dal.derivatives(chain(2), {"j0": 0.3}, {"j1": 2.0}, None, 0.01)
    plain = dal.derivatives(chain(2), [0.3, 0.0], [0.0, 2.0], [0.0, 0.0], 0.01)
    assert np.array_equal(named.A, plain.A)


def test_formulas_are_built_once(chain):
    m = chain(12)
    dal.derivatives(m, h=0.01)
    from dalembert.runs.plan import Plan

    first = Plan.of(m, "midpoint", 0.01)._made["derivatives"]
    start = time.process_time()
    for h in (0.01, 0.02, 0.03):
        dal.derivatives(m, h=h)
    assert Plan.of(m, "midpoint", 0.05)._made["derivatives"] is first
    assert time.process_time() - start < 0.5  # some ms


def test_threads_have_buffers_of_their_own(chain):
    m = chain(8).frozen()
    states = np.random.default_rng(4).standard_normal((40, 2, 8))
    alone = [dal.derivatives(m, q, v, None, 0.01).A for q, v in states]
    together = [None] * len(states)

    def run(start):
        for k in range(start, len(states), 4):
            together[k] = dal.derivatives(m, *states[k], None, 0.01).A

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": [0.0] * 3}, "q"),
        ({"v": [np.nan] * 4}, "v"),
        ({"tau": [0.0] * 3}, "tau is .*expected 4 finite numbers"),
        ({"tau": [np.inf] * 4}, "4 finite numbers"),
        ({"tau": 3.0}, "tau is 3.0; expected 4"),
        ({"tau": "much"}, "tau is 'much'"),
        ({"t": "noon"}, "t is 'noon'"),
        ({"params": 3}, "expected names"),
        ({"h": 0.0}, "h is 0.0"),
        ({"h": -0.1}, "h is -0.1"),
        ({"h": np.nan}, "h is nan"),
        ({"t": np.inf}, "t is inf"),
        ({"stepper": "midpont"}, "midpoint"),
    ],
)
def test_bad_input_is_named(chain, given, message):
    with pytest.raises(dal.DalembertError, match=message):
        dal.derivatives(chain(4), **given)


def test_steppers_without_derivatives_are_named(chain):
    with pytest.raises(dal.UnsupportedError, match=r"'mk4'.*Known: midpoint"):
        dal.derivatives(chain(2), stepper="mk4")
    with pytest.raises(dal.OptionError, match="expected a Model"):
        dal.derivatives("chain")


def test_forces_that_are_functions_have_no_formula(chain):
    m = chain(2)
    m.add_force(lambda t, q, v: -v)
    with pytest.raises(dal.UnsupportedError, match=r"function.*ignore"):
        dal.derivatives(m)
    assert dal.derivatives(m, ignore=("function",)).A.shape == (4, 4)


def test_a_step_that_is_taken_in_parts_has_no_derivative():
    m = dal.Model("whirl", gravity=(0, 0, -9.81))
    for i in range(3):
        m.add_body(f"b{i}", 1.0, (0.1, 0.1, 0.02), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "revolute", "world" if i == 0 else f"b{i - 1}", f"b{i}", anchor=(0, 0, -0.5 * i), axis=(0, 1, 0))
    with pytest.raises(dal.DalembertError, match=r"in \d+ parts|converge|motion"):
        dal.derivatives(m, [0.5, 1.0, -1.0], [30.0, -40.0, 50.0], None, 0.2)
