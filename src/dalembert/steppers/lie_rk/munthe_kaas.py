"""Munthe-Kaas methods: a classical Runge-Kutta method for the exponent.

    g(t) = g_0 exp(Theta),   Theta' = dexp^-1_(-Theta) v                                            Park & Chung (30)-(32), (47)
    Theta_i = h sum_j a_ij F_j,   g_i = g_0 exp(Theta_i),   F_i = dexp^-1_(-Theta_i) v_i

with dexp^-1 in closed form, not as a series of commutators. Every classical tableau of order p gives order p. mk2 is Heun's
method (the printed text has no tableau for it).
"""

from dalembert.steppers.lie_rk._entry import enter
from dalembert.steppers.lie_rk._tableau import Tableau, all_in_one

MK2 = Tableau("mk2", 2, **all_in_one([[], [1.0]], [0.5, 0.5]), c=(0.0, 1.0))
MK3 = Tableau("mk3", 3, **all_in_one([[], [1 / 3], [0.0, 2 / 3]], [1 / 4, 0.0, 3 / 4]), c=(0.0, 1 / 3, 2 / 3))
MK4 = Tableau("mk4", 4, **all_in_one([[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]), c=(0.0, 0.5, 0.5, 1.0))

enter(MK2, summary="Munthe-Kaas method of order 2 (Heun's tableau)", rank=61, references=("park2005", "munthekaas1999"))
enter(MK3, summary="Munthe-Kaas method of order 3: three stages, three exponentials", rank=51, references=("park2005", "munthekaas1999"))
enter(
    MK4,
    summary="Munthe-Kaas method of order 4 (Kutta's tableau): four stages, four exponentials",
    rank=41,
    references=("park2005", "munthekaas1999"),
)
