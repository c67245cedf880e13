"""Eight threads on one model and one plan find, bit for bit, what one thread finds."""

import sys
import threading

import numpy as np
import pytest

import dalembert as dal
from dalembert.runs.plan import Plan

THREADS, CALLS = 8, 12_500  # a hundred thousand in all; a million (CALLS = 125_000) were run by hand


def chain():
    m = dal.Model("chain")
    for k in range(3):
        m.add_body(f"r{k}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -k), (1, 0, 0, 0)))
        m.add_joint(f"j{k}", "revolute", f"r{k - 1}" if k else "world", f"r{k}", (0, 0, -k), (0, 1, 0))
    return m.frozen()


def together(work):
    """work(thread) in eight threads that change often; what they answered."""
    found, failed, before = [None] * THREADS, [], sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def one(i):
        try:
            found[i] = work(i)
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(THREADS)]
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(before)
    assert not failed
    return found


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "mk4"])
def test_engines_of_one_plan(stepper):
    plan = Plan.of(chain(), stepper, 0.001)
    q, v = plan.start([1.0, 0.5, -0.3], [0.1, 0.2, 0.3])

    def run(i):
        engine = plan.engine()
        engine.start(q, v)
        sums = np.zeros(3)
        for _ in range(CALLS // 5):
            engine.tick(5)
            sums += engine.observe()[0]
        return sums, engine.state.copy()

    alone = run(0)
    for sums, state in together(run):
        np.testing.assert_array_equal(sums, alone[0])
        np.testing.assert_array_equal(state, alone[1])


def test_functions_of_one_model():
    m = chain()
    rng = np.random.default_rng(0)
    states = rng.normal(size=(50, 3, 3))

    def run(i):
        total = np.zeros(3)
        for k in range(CALLS // 5):
            q, v, tau = states[(k + 7 * i) % 50]
            total += m.forward_dynamics(q, v, tau)
        return total

    alone = [run(i) for i in range(THREADS)]
    for mine, other in zip(alone, together(run), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_whole_runs_of_one_model():
    m = chain()

    def run(i):
        return np.array([dal.simulate(m, "midpoint", h=0.01, t_end=0.5, q0=[0.1 * (i + 1), 0.0, k * 0.01]).q[-1] for k in range(40)])

    alone = [run(i) for i in range(THREADS)]
    for mine, other in zip(alone, together(run), strict=True):
        np.testing.assert_array_equal(mine, other)
