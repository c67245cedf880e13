"""Twenty thousand hostile calls: results, or errors in words; nothing else escapes. `make fuzz` makes a million."""

import numpy as np
import pytest
from tests.robustness.fuzzing import CALLS, files, fuzz


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_hostile_calls_are_answered_in_words(seed):
    fine, told, escaped = fuzz(5000, seed)
    assert not escaped, escaped
    assert fine > 200 and told > 2000  # values are hostile, and not all of them


def test_every_call_can_go_well():
    for call in set(CALLS) - {files}:  # of files there are none
        for k in range(200):
            try:
                call(np.random.default_rng(k))
                break
            except Exception:
                continue
        else:
            pytest.fail(f"{call.__name__} never went well")
