"""One step of bodies with joints, limits and contacts, compiled: velocities x (6 per body, angular first) and impulses lam.

    masses (x - free) = J^T lam,    u = J x + b + sigma lam,    (lam, u) by the law of each constraint (`codes.py`)

One file per part: `laws` (projections), `products` (J, J^T, masses), `order` and `pattern` (analysis of the graph of bodies), `factor`
(block Cholesky), `residual` (the judge), `newton`, `interior` (the two solvers), `solve` (their entry), `gauss_seidel`, `islands`.
"""
