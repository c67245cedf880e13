"""Curves of what should have been kept: what is drawn is what the report judges."""

import numpy as np

from dalembert import scenes
from dalembert.view.drift import energy_drift, momentum_drift, momentum_excuse
from dalembert.view.panels import plot_panels
from dalembert.view.picture import styled


def test_the_energy_of_a_lagrangian_is_drawn_without_what_impacts_took():
    run = scenes.find("double-pendulum-wall").simulate(t_end=1.5)
    item = next(i for i in run.report().items if i.name == "energy")
    curve = energy_drift(run)
    assert abs(run.energy[-1] - run.energy[0]) > 1.0  # J: it struck the wall
    assert item.verdict == "pass" and np.ptp(curve.values) <= item.limit
    assert "impacts" in curve.label


def test_momentum_that_the_report_does_not_judge_is_not_drawn():
    scene = scenes.find("crane")
    run = scene.simulate(t_end=20 * scene.h)
    assert not any("momentum" in i.name for i in run.report().items)
    assert momentum_drift(run) == [] and momentum_excuse(run).startswith("not judged:")
    with styled():
        panel = plot_panels(run, "momentum-error").axes[0]
    assert "not judged" in panel.texts[0].get_text() and not panel.lines
