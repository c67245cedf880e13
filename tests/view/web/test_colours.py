"""Colours of bodies that share a mesh."""

import numpy as np

from dalembert.view.web.colours import linear


def test_linear_colours_are_those_of_the_standard():
    assert linear([0, 5, 128, 188, 255]).tolist() == [0, 0, 55, 128, 255]
    assert linear(np.full((2, 3), 255)).dtype == np.uint8
