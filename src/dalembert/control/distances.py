"""How far apart the solids of a plan are, at its nodes and between them, by a judge that knows nothing of the plan.

Between nodes k and k + 1 the machine moves as the chart of the stepper does, q_k tau(s x) with q_k tau(x) = q_k+1: this motion is looked at
on a grid of s. The judge is coal (GJK and EPA) where it is installed, else `dal.contact.sshlp`. An interval in which two solids cannot come
nearer than they do elsewhere, d >= (d_k + d_k+1 - way)/2 with the way that their points go, is not looked into.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.contact.separation import sshlp
from dalembert.control.obstacles import Solid
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix

GRID = 20  # parts of an interval
TOUCHING = 1e-6  # m: planned contact is found as overlap by the tolerance of the search
TIGHT = 1e-12  # of the judge
AT_HOME = (np.eye(3), np.zeros(3))

Pose = tuple[Array, Array]


@dataclass
class Least:
    """Least distances of one pair, m, and where: at nodes, between them, and within steps that begin or end in contact, as planned."""

    at_nodes: float
    node: int
    between: float
    step: int
    part: float
    in_contact: float

    @property
    def least(self) -> float:
        """Of all."""
        return min(self.at_nodes, self.between, self.in_contact)


@dataclass
class Clearance:
    """Least distances of pairs of solids, by name, and the judge. Nodes 0 and N are left out of `at_nodes` where they are contacts."""

    pairs: dict[str, Least] = field(default_factory=dict)
    margin: float = 0.0
    judge: str = "coal"

    @property
    def at_nodes(self) -> float:
        """Least distance at a node, m."""
        return min((p.at_nodes for p in self.pairs.values()), default=np.inf)

    @property
    def between(self) -> float:
        """Least distance between nodes, m."""
        return min((p.between for p in self.pairs.values()), default=np.inf)

    @property
    def in_contact(self) -> float:
        """Least distance in a step that begins or ends in contact, m; infinite where there is none."""
        return min((p.in_contact for p in self.pairs.values()), default=np.inf)

    @property
    def least(self) -> float:
        """Least distance of all."""
        return min(self.at_nodes, self.between, self.in_contact)

    @property
    def ok(self) -> bool:
        """Nothing overlaps."""
        return bool(self.least >= -TOUCHING)

    @property
    def text(self) -> str:
        """In a line."""
        if not self.pairs:
            return "clearance: nothing is to be avoided"
        name = min(self.pairs, key=lambda n: self.pairs[n].least)
        p = self.pairs[name]
        place = f"node {p.node}" if p.at_nodes <= min(p.between, p.in_contact) else f"{p.part:.2g} of step {p.step}"
        contact = f", {_mm(self.in_contact)} in steps of contact" if self.in_contact < np.inf else ""
        return (
            f"clearance ({self.judge}): {_mm(self.at_nodes)} at nodes, {_mm(self.between)} between them{contact}; "
            f"nearest {name} at {place}: {'pass' if self.ok else 'fail: ' + self.advice}"
        )

    @property
    def advice(self) -> str:
        """What to do about an overlap."""
        if self.at_nodes < -TOUCHING:
            return "they overlap at a node"
        more = self.margin - 1.2 * min(self.between, self.in_contact)
        return f"{more:.1g} m as margin= would be enough, or more steps, or planes='arcs' if they are others"


def _mm(x: float) -> str:
    return f"{1e3 * x:.3g} mm"


# judges ----------------------------------------------------------------------------------------------------------------------------------


@cache
def _coal() -> Any:
    try:
        import coal
    except ImportError:
        return None
    return coal


def judge() -> str:
    """Who measures."""
    coal = _coal()
    return "sshlp" if coal is None else f"coal {coal.__version__}"


class Ruler:
    """Measures one pair: `ruler(pose, pose)` with poses (R, x) of the owners."""

    def __init__(self, a: Solid, b: Solid):
        self.pair = (a, b)
        self.ground = next((i for i, s in enumerate(self.pair) if s.half_space is not None), None)
        coal = None if self.ground is not None else _coal()
        if coal is not None:
            self._request = coal.DistanceRequest()
            self._request.enable_signed_distance = True
            self._request.gjk_tolerance = self._request.epa_tolerance = TIGHT
            self._request.gjk_max_iterations = self._request.epa_max_iterations = 512
            self._shapes = [_shape(coal, s) for s in self.pair]
            self._own = [(matrix(s.quaternion), s.position) if not s.bare else AT_HOME for s in self.pair]

    def __call__(self, *poses: Pose) -> float:
        """Signed distance, m."""
        a, b = self.pair
        if self.ground is not None:
            return self._above(poses)
        coal = _coal()
        if coal is None:
            X, Y = (s.cloud @ R.T + x for s, (R, x) in zip(self.pair, poses, strict=True))
            return float(sshlp(X, Y).h - a.radius - b.radius)
        at = [coal.Transform3s(R @ R0, R @ x0 + x) for (R, x), (R0, x0) in zip(poses, self._own, strict=True)]
        return float(coal.distance(self._shapes[0], at[0], self._shapes[1], at[1], self._request, coal.DistanceResult()))

    def _above(self, poses: tuple[Pose, ...]) -> float:
        assert self.ground is not None
        ground, s, (R, x) = self.pair[self.ground], self.pair[1 - self.ground], poses[1 - self.ground]
        assert ground.half_space is not None
        n, d = ground.half_space
        growth = s.radius if np.ndim(s.growth) == 0 else float(np.linalg.norm(np.asarray(s.growth).T @ (R.T @ n)))
        return float(((s.points @ R.T + x) @ n).min() - growth - d)


def _shape(coal: Any, s: Solid) -> Any:
    """For coal, about the pose of the shape; hulls in the frame of the owner."""
    shape: Any = s.shape
    if shape.kind == "sphere":
        return coal.Sphere(shape.radius)
    if shape.kind == "box":
        return coal.Box(*shape.size)
    if shape.kind in ("capsule", "cylinder"):
        return (coal.Capsule if shape.kind == "capsule" else coal.Cylinder)(shape.radius, shape.length)
    if shape.kind == "ellipsoid":
        return coal.Ellipsoid(*shape.radii)
    from scipy.spatial import ConvexHull

    triangles, vertices = coal.StdVec_Triangle(), coal.StdVec_Vec3s()
    for corners in ConvexHull(s.points).simplices:
        triangles.append(coal.Triangle(*map(int, corners)))
    for p in s.points:
        vertices.append(p)
    return coal.Convex(vertices, triangles)


# a plan ----------------------------------------------------------------------------------------------------------------------------------


def clearance(solution: Any, grid: int = GRID) -> Clearance | None:
    """Of all pairs that a plan keeps apart; None where there are none."""
    problem = solution.problem
    pairs = list(dict.fromkeys(problem.made.apart))
    if not pairs:
        return None
    machine = problem.machine
    motion = moved(machine, solution.q, grid)
    whole = machine.whole
    T = np.asarray(whole.poses(motion.reshape(-1, machine.nq))).reshape(*motion.shape[:2], len(whole.bodies), 4, 4)
    places = {b.name: T[:, :, i] for i, b in enumerate(whole.bodies)}
    found = Clearance(margin=problem.made.margin, judge=judge())
    for a, b in pairs:
        name, least = f"{a.name} and {b.name}", _least(Ruler(a, b), places, motion.shape[:2])
        if name not in found.pairs or least.least < found.pairs[name].least:
            found.pairs[name] = least
    return found


def moved(machine: Any, q: Array, grid: int) -> Array:
    """(N, grid + 1, nq): the motion of the chart in every interval, both ends included."""
    from dalembert.control.replay import unit

    q = unit(machine, q)
    nq, nv, N = machine.nq, machine.nv, len(q) - 1
    a, x = ca.SX.sym("q", nq), ca.SX.sym("x", nv)
    retract = ca.Function("retract", [a, x], [ca.densify(machine.formulas.chart.retract(a, x))])
    s = np.linspace(0.0, 1.0, grid + 1)
    first, way = np.repeat(q[:-1], grid + 1, axis=0), np.repeat(machine.lifts(q[:-1], q[1:]), grid + 1, axis=0)
    return np.array(retract.map(len(first))(first.T, (way * np.tile(s, N)[:, None]).T)).T.reshape(N, grid + 1, nq)


def _least(ruler: Ruler, places: dict[str, Array], shape: tuple[int, ...]) -> Least:
    """Of one pair."""
    N, n = shape

    def at(k: int, i: int) -> float:
        T = (None if s.owner == WORLD else places[s.owner][k, i] for s in ruler.pair)
        return ruler(*(AT_HOME if x is None else (x[:3, :3], x[:3, 3]) for x in T))

    nodes = np.array([*(at(k, 0) for k in range(N)), at(N - 1, n - 1)])
    contact = np.abs(nodes) <= TOUCHING
    contact[1:-1] = False
    steps = contact[:-1] | contact[1:]
    way = sum(_way(s, places[s.owner]) for s in ruler.pair if s.owner != WORLD)
    bound = np.where(steps, -np.inf, 0.5 * (nodes[:-1] + nodes[1:] - 1.01 * way))
    node = int(np.argmin(np.where(contact, np.inf, nodes)))
    found = Least(float(nodes[node]), node, np.inf, 0, 0.0, np.inf)
    least = np.inf
    for k in np.argsort(bound):
        if bound[k] > found.between:
            break
        inside = np.array([at(k, i) for i in range(1, n - 1)])
        d = float(inside.min())
        if d < least:
            least, found.step, found.part = d, int(k), (int(np.argmin(inside)) + 1) / (n - 1)
        if steps[k]:
            found.in_contact = min(found.in_contact, d)
        else:
            found.between = min(found.between, d)
    return found


def _way(s: Solid, T: Array) -> Any:
    """(N,): how far points of a solid go in each interval, a bound: its points, and the turn of what they are grown by."""
    x = np.einsum("kgij,pj->kgpi", T[:, :, :3, :3], s.points) + T[:, :, None, :3, 3]
    way = np.linalg.norm(np.diff(x, axis=1), axis=-1).max(axis=2).sum(axis=1)
    if np.ndim(s.growth):
        turn = np.linalg.norm(np.diff(T[:, :, :3, :3], axis=1), axis=(-2, -1)).sum(axis=1)
        way = way + float(np.linalg.norm(s.growth, 2)) * turn
    return way


__all__ = ["Clearance", "Least", "Ruler", "clearance", "judge", "moved"]
