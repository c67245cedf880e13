"""Units of the curves of a live page."""

import numpy as np
import pytest

from dalembert.view.web.live_plots import in_unit, power_of


@pytest.mark.parametrize(("largest", "power"), [(0.0, 0), (1.0, 0), (9999.0, 0), (0.1, 0), (5e5, 3), (2e6, 6), (1e-6, -6), (5e-16, -18)])
def test_axes_of_small_and_large_curves_have_few_digits(largest, power):
    curves = [np.array([0.0, -largest]), np.array([np.nan, np.inf])]
    assert power_of(curves) == power
    assert power == 0 or 1.0 - 1e-9 <= largest / 10.0**power < 1000.0


def test_the_title_names_the_unit():
    assert in_unit("energy, J", 0) == "energy, J"
    assert in_unit("energy, J", 3) == "energy, 10³ J"
    assert in_unit("constraint violation, m", -6) == "constraint violation, 10⁻⁶ m"
    assert in_unit("momentum", -12) == "momentum, 10⁻¹²"
