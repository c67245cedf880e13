"""Figures of plans with contacts show what they should, and are written."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import scenes
from dalembert.control.contact_pictures import consistency, imbalances, over_nodes
from dalembert.control.scenes import cube_wall


def test_the_contact_over_its_node(tmp_path):
    plans = {node: cube_wall.build(node=node).solve() for node in (4, 14)}
    picture = over_nodes(plans, tmp_path / "nodes.png")
    times = picture.axes[0].lines[0]
    assert list(times.get_xdata()) == [4, 14]
    np.testing.assert_allclose(times.get_ydata(), 0.2176, atol=1e-4)
    assert (tmp_path / "nodes.png").stat().st_size > 1000


def test_energy_and_momentum_along_a_plan(tmp_path):
    plan = cube_wall.build(restitution=0.5).solve()
    picture = consistency(plan, tmp_path / "plan.svg")
    assert "Energy" in (picture.axes[0].get_title(loc="left"), picture.axes[0].get_title())
    kept = np.asarray(picture.axes[0].lines[1].get_ydata())
    assert np.ptp(kept) < 1e-3 * kept[0]  # energy less work, of order h^2
    assert max(x.max() for x in imbalances(plan)) < 1e-10


def test_plans_without_contacts_have_no_such_figure():
    with pytest.raises(dal.OptionError, match="no planned contacts"):
        consistency(scenes.find("cart-pole").build(N=20).solve())
    with pytest.raises(dal.OptionError, match="with an impact"):
        over_nodes({})
