"""What is no method to compare is refused in words."""

import pytest

import dalembert as dal
from dalembert.comparison.methods import make_method


@pytest.mark.parametrize("entry", [{"midpoint": 0.01, "mk4": 0.01}, "ab", 3, None, ("midpoint",), ("midpoint", 0.1, None, 1), (0, 0.1)])
def test_entries_that_are_none(entry):
    with pytest.raises(dal.OptionError):
        make_method(entry)
