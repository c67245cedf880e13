"""What `dal.lcp` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from dalembert.arrays import Array
from dalembert.kernels.lcp import codes

STATUS = {
    codes.SOLVED: "solved",
    codes.RAY: "ray",
    codes.INFEASIBLE: "infeasible",
    codes.PIVOT_LIMIT: "pivot-limit",
    codes.CYCLE: "cycle",
    codes.SINGULAR: "singular",
}
MEANING = {
    "solved": "the relative natural residual is below the tolerance",
    "ray": "the path went to infinity and no solution was found; from lemke on a copositive-plus matrix: there is none",
    "infeasible": "no z within the bounds makes w feasible: the ray that was found proves it",
    "pivot-limit": "the limit of pivots, iterations or sweeps was met",
    "cycle": "the method came back to index sets that it had had",
    "singular": "a principal submatrix that the method needs is singular, or too near to it for the tolerance",
}


@dataclass(slots=True, eq=False)
class LCPResult:
    """A complementarity problem's answer with its evidence.

    z within its bounds, w = M z + q recomputed from the data, status a key of `MEANING`, pivots (or iterations, sweeps) of all methods
    used, residual = max |z - clip(z - w, lower, upper)|, relative_residual as the judge of `residual.py` scales it, method as asked for,
    fallback: the method that gave the answer instead of it, "" if none. claim: how the method asked for ended by its own account, another
    key of `MEANING`; the judge alone sets `status`. ray: direction along which nothing stopped, where status is
    `ray` or `infeasible`.
    """

    z: Array
    w: Array
    status: str
    pivots: int
    residual: float
    relative_residual: float
    method: str
    claim: str
    fallback: str = ""
    ray: Array | None = field(default=None, repr=False)

    @property
    def solved(self) -> bool:
        """Whether z is a solution."""
        return self.status == "solved"
