"""Programs of formulas are shared by threads, and stay alive while one of them uses their machine code."""

import threading

import numpy as np

import dalembert as dal
from dalembert.lagrangian import program


def test_threads_that_ask_for_a_program_at_once_are_given_one(monkeypatch):
    """Both make one, and both use the one that is kept: machine code of the other may go at any moment."""
    made, together = [], threading.Barrier(2, timeout=20)

    class Slow(program.CompiledProgram):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)
            together.wait()

        def system(self, *given):
            used.append(self)
            return super().system(*given)

    used = []
    monkeypatch.setattr(program, "CompiledProgram", Slow)
    oscillator = dal.Lagrangian(1, lambda q, v, p: 0.5 * v[0] ** 2 - 0.5 * p["k"] * q[0] ** 2, params={"k": 4.0})
    ends = {}

    def run(k):
        ends[k] = dal.simulate(oscillator.with_params(k=k), "midpoint", h=0.01, t_end=0.1, q0=[1.0]).q[-1, 0]

    threads = [threading.Thread(target=run, args=(k,)) for k in (1.0, 9.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 2 and len(set(map(id, used))) == 1
    np.testing.assert_allclose([ends[1.0], ends[9.0]], [np.cos(0.1), np.cos(0.3)], atol=1e-4)
