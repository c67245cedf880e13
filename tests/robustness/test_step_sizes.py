"""Every stepper over step sizes from a microsecond to a tenth of a second, on the easy machines of its contract."""

import numpy as np
import pytest

from dalembert.contract_runs import engine_of, machines
from dalembert.kernels.status import OK
from dalembert.registry import steppers

SIZES = [10.0**-k for k in range(1, 7)]
STEPS, PYTHON_STEPS = 400, 20


@pytest.mark.parametrize("stepper", steppers(), ids=lambda s: f"{s.system}: {s.name}")
def test_no_step_size_is_too_small(stepper):
    """No step fails, and energy is right: to 1e-6 of the largest kinetic energy up to a millisecond, where even explicit Euler loses no more
    than h^2 t / 2 times the square of a rate of about 1/s."""
    for machine in machines(stepper):
        for h in SIZES:
            engine = engine_of(stepper, machine, h)
            n = PYTHON_STEPS if stepper.python or stepper.engine is not None else STEPS
            chunk = engine.advance(n, n)
            assert chunk.error is None and chunk.status == OK, (machine[0].name, h)
            assert np.isfinite(engine.state).all(), (machine[0].name, h)
            if h <= 1e-3:
                q, v = engine.observe()
                model, q0, v0 = machine
                change = model.energy(q, v) - model.energy(q0, v0)
                assert abs(change) <= 1e-3 * model.kinetic_energy(q0, v0), (model.name, h)
