"""Comparison figures: drawn from plain data, refused with a reason."""

import numpy as np
import pytest
from PIL import Image

from dalembert.errors import OptionError
from dalembert.view.compare_plots import plot_comparison, plot_work_precision

T = np.linspace(0, 10, 500)
ROWS = [{"label": f"method {k}", "t": T, "energy_error": 10.0**-k * np.sin(T), "momentum_error": 0 * T + 1e-15} for k in range(12)]
TABLE = [{"method": f"order {p}", "h": h, "seconds": 1e-3 / h, "error": h**p} for p in (1, 2, 4) for h in (0.1, 0.05, 0.025, 0.0125)]


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("L"), dtype=float)


def test_comparison_draws_one_curve_per_run(tmp_path):
    figure = plot_comparison(ROWS, tmp_path / "a.png")
    energy, momentum = figure.axes
    assert len(energy.get_lines()) == len(momentum.get_lines()) == len(ROWS)
    looks = {(line.get_color(), line.get_linestyle()) for line in energy.get_lines()}
    assert len(looks) == len(ROWS)
    assert np.nanmax(energy.get_lines()[3].get_ydata()) == pytest.approx(1e-3, rel=1e-3)
    assert pixels(tmp_path / "a.png").std() > 10


def test_long_runs_are_thinned(tmp_path):
    t = np.linspace(0, 1, 200_000)
    figure = plot_comparison([{"label": "long", "t": t, "energy_error": np.sin(1e4 * t), "momentum_error": np.cos(t)}])
    assert all(len(a.get_lines()[0].get_xdata()) <= 4000 for a in figure.axes)


def test_work_precision_draws_both_views(tmp_path):
    figure = plot_work_precision(TABLE, tmp_path / "a.png")
    work, order = figure.axes
    assert len(work.get_lines()) == 3
    curve = order.get_lines()[1]
    assert np.polyfit(np.log(curve.get_xdata()), np.log(curve.get_ydata()), 1)[0] == pytest.approx(2.0)
    assert "(s)" in work.get_xlabel()
    assert "(s)" in order.get_xlabel()
    assert pixels(tmp_path / "a.png").std() > 10


def test_failed_runs_are_left_out():
    figure = plot_work_precision([*TABLE, {"method": "order 1", "h": 1.0, "seconds": 1e-4, "error": np.nan}])
    assert len(figure.axes[0].get_lines()[0].get_xdata()) == 4
    assert plot_work_precision([{"method": "a", "h": 0.1, "seconds": 1.0, "error": np.inf}]) is not None


@pytest.mark.parametrize("draw", [plot_comparison, plot_work_precision])
def test_bad_data_and_paths_are_refused(draw, tmp_path):
    with pytest.raises(OptionError, match="no rows"):
        draw([])
    with pytest.raises(OptionError, match="row 0 lacks"):
        draw([{"label": "a", "h": 0.1}])
    with pytest.raises(OptionError, match="row 0 lacks"):
        draw([3])
    with pytest.raises(OptionError, match="does not exist"):
        draw(ROWS if draw is plot_comparison else TABLE, tmp_path / "missing" / "a.png")
    assert list(tmp_path.iterdir()) == []
