"""Crouch-Grossman methods: one exponential per coefficient.

    g_i = g_0 exp(h a_i1 v_1) exp(h a_i2 v_2) ...,    g_1 = g_0 exp(h b_1 v_1) ... exp(h b_s v_s)            Park & Chung (28), (46)

cg2 is Heun's method: the printed text has no tableau, its tables are those of c_2 = 1, b = (1/2, 1/2). cg3: a_21 = 3/4, where print has
3/24. cg4: print gives fractions that are right to six digits only (their weights do not even add up to 1); these are all digits of that
solution of the order conditions, found by Owren and Marthinsen.
"""

from dalembert.steppers.lie_rk._entry import enter
from dalembert.steppers.lie_rk._tableau import Tableau, one_by_one

CG2 = Tableau("cg2", 2, **one_by_one([[], [1.0]], [0.5, 0.5]), c=(0.0, 1.0))
CG3 = Tableau("cg3", 3, **one_by_one([[], [3 / 4], [119 / 216, 17 / 108]], [13 / 51, -2 / 3, 24 / 17]), c=(0.0, 3 / 4, 17 / 24))
CG4 = Tableau(
    "cg4",
    4,
    **one_by_one(
        [
            [],
            [0.8177227988124852],
            [0.3199876375476427, 0.0659864263556022],
            [0.9214417194464946, 0.4997857776773573, -1.0969984448371582],
            [0.3552358559023322, 0.2390958372307326, 1.3918565724203246, -1.1092979392113465],
        ],
        [0.1370831520630755, -0.0183698531564020, 0.7397813985370780, -0.1907142565505889, 0.3322195591068374],
    ),
    c=(0.0, 0.8177227988124852, 0.3859740639032449, 0.3242290522866937, 0.8768903263420429),
)

enter(
    CG2,
    summary="Crouch-Grossman method of order 2 (Heun's tableau); the same method as cf2",
    rank=62,
    references=("park2005", "crouch1993"),
)
enter(CG3, summary="Crouch-Grossman method of order 3: three stages, six exponentials", rank=52, references=("park2005", "crouch1993"))
enter(
    CG4,
    summary="Crouch-Grossman method of order 4: five stages, fifteen exponentials",
    rank=42,
    references=("park2005", "crouch1993", "owren1999"),
)
