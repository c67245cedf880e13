"""Commutator-free methods: few exponentials, each of a combination of velocities.

    g_i = g_0 exp(h sum_j alpha1_ij v_j) exp(h sum_j alpha2_ij v_j),   likewise for the step           Park & Chung (29), Table II

The classical tableaux of Heun, Heun (order 3) and Kutta, split so that one exponential of a later row repeats an earlier stage. In the
printed formulas of cf4 a factor is exp(-h/2 K_1 + K_3); it is exp(-h/2 K_1 + h K_3).
"""

from dalembert.steppers.lie_rk._entry import enter
from dalembert.steppers.lie_rk._tableau import Tableau

CF2 = Tableau("cf2", 2, stages=((), ((1.0, 0.0),)), weights=((0.5, 0.0), (0.0, 0.5)), c=(0.0, 1.0))
CF3 = Tableau(
    "cf3",
    3,
    stages=((), ((1 / 3, 0.0, 0.0),), ((0.0, 2 / 3, 0.0),)),
    weights=((1 / 3, 0.0, 0.0), (-1 / 12, 0.0, 3 / 4)),
    c=(0.0, 1 / 3, 2 / 3),
)
CF4 = Tableau(
    "cf4",
    4,
    stages=((), ((0.5, 0.0, 0.0, 0.0),), ((0.0, 0.5, 0.0, 0.0),), ((0.5, 0.0, 0.0, 0.0), (-0.5, 0.0, 1.0, 0.0))),
    weights=((1 / 4, 1 / 6, 1 / 6, -1 / 12), (-1 / 12, 1 / 6, 1 / 6, 1 / 4)),
    c=(0.0, 0.5, 0.5, 1.0),
)

enter(CF2, summary="commutator-free method of order 2 (Heun's tableau)", rank=60, references=("park2005", "celledoni2003"))
enter(CF3, summary="commutator-free method of order 3: three stages, three exponentials", rank=50, references=("park2005", "celledoni2003"))
enter(CF4, summary="commutator-free method of order 4: four stages, five exponentials", rank=40, references=("park2005", "celledoni2003"))
