"""Legends of machines with many joints, and with long names."""

import matplotlib.pyplot as plt
import numpy as np

import dalembert as dal
from dalembert.view.legends import LONGEST, add_legend, look_of, short
from dalembert.view.panels import plot_panels
from dalembert.view.picture import styled


def test_long_names_are_shortened_and_keep_both_ends():
    assert short("elbow") == "elbow"
    name = "left_" + 40 * "x" + "_joint7"
    assert len(short(name)) == LONGEST and short(name).startswith("left_") and short(name).endswith("_joint7")


def test_a_legend_names_the_first_curves_and_counts_the_others():
    figure = plt.figure()
    axes = figure.subplots()
    for i in range(32):
        axes.plot([0, 1], [i, i], label=f"curve {i}", **look_of(i))
    add_legend(axes)
    words = [x.get_text() for x in axes.get_legend().get_texts()]
    assert words[:12] == [f"curve {i}" for i in range(12)] and words[12:] == ["… and 20 more"]
    plt.close(figure)


def test_no_two_of_many_joints_have_the_same_line():
    m = dal.Model("chain " + "of rods " * 20)
    parent = "world"
    for k in range(20):
        m.add_body(f"rod{k}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.1), pose=((0, 0, -0.2 * k), (1, 0, 0, 0)))
        m.add_joint(f"a rather long name of joint number {k}", "revolute", parent, f"rod{k}", anchor=(0, 0, -0.2 * k), axis=(0, 1, 0))
        parent = f"rod{k}"
    run = dal.simulate(m, "midpoint", h=0.01, t_end=0.02, q0=np.full(20, 0.1))
    with styled():
        figure = plot_panels(run, "joints")
    (axes,), title = figure.axes, figure.texts[0].get_text()
    looks = [(x.get_color(), x.get_linestyle()) for x in axes.lines]
    assert len(looks) == 20 == len(set(looks))
    words = [x.get_text() for x in axes.get_legend().get_texts()]
    assert len(words) == 13 and max(map(len, words)) <= LONGEST and title.startswith("chain of rods") and len(title) < 80
