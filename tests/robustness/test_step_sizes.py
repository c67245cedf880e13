"""Every stepper over step sizes from a microsecond to a tenth of a second, on the easy machines of its contract."""

import numpy as np
import pytest

from dalembert.contracts.lagrangians import relaxes
from dalembert.contracts.runs import engine_of, machines
from dalembert.kernels.status import OK
from dalembert.registry import steppers

SIZES = [10.0**-k for k in range(1, 7)]
STEPS, PYTHON_STEPS = 400, 20


@pytest.mark.parametrize("stepper", steppers(), ids=lambda s: f"{s.system}: {s.name}")
def test_no_step_size_is_too_small(stepper):
    """No step fails. Up to a millisecond energy is kept to 5 percent: at rates up to 5/s methods of order one lose h t 25/s^2 = 0.01."""
    relaxed = stepper.system == "lagrangian" and relaxes(stepper)
    for machine in machines(stepper, constrained=not relaxed):
        for h in SIZES:
            model, q0, v0 = machine
            engine = engine_of(stepper, machine, h)
            n = PYTHON_STEPS if stepper.python or stepper.engine else STEPS
            n = min(n, round(2.0 / h))
            chunk = engine.advance(n, n)
            assert chunk.error is None and chunk.status == OK, (model.name, h)
            assert np.isfinite(engine.state).all(), (model.name, h)
            q, v = engine.observe()
            if h <= 1e-3:
                scale = max(model.kinetic_energy(q, v), model.kinetic_energy(q0, v0))
                assert abs(model.energy(q, v) - model.energy(q0, v0)) <= 0.05 * scale, (model.name, h)
