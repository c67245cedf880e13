"""A machine with contacts that is changed at random while it runs; killed and resumed. `benchmarks/soak.py` has the long version."""

import importlib.util
import sys
import warnings
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "soak.py"


@pytest.fixture(scope="module")
def soak():
    spec = importlib.util.spec_from_file_location("soak", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["soak"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["soak"]


@pytest.mark.parametrize("seed", [1, 2])
def test_random_changes_leave_a_machine_that_runs(soak, seed):
    """Numbers are finite, nothing below the floor, nothing too fast (`Soak.judge`); its pickle goes on bit for bit. Most edits are taken.

    Memory: kernels that are compiled on the way come first; a machine of 14 bodies and its contacts have less than a MB.
    """
    machine = soak.Soak(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about light bodies on joints
        for _ in range(40):
            machine.burst(10)
        assert machine.goes_on_from_its_pickle()
        before = soak.rss()
        for _ in range(60):
            machine.burst(10)
        assert machine.goes_on_from_its_pickle()
    assert machine.refused < 0.1 * machine.edits
    assert soak.rss() - before < 16e6


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_killed_run_with_contacts_and_joints_goes_on_bit_for_bit(soak, seconds):
    assert soak.killed_and_resumed(7, seconds, steps=120)
