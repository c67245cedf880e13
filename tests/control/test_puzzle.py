"""The puzzle of pieces that are not convex: published-like numbers of a prototype, and no overlap by a judge of the test's own."""

import casadi as ca
import coal
import numpy as np
import pytest

import dalembert as dal
from dalembert.control import scenes
from dalembert.control.avoidance import pairs
from dalembert.control.distances import clearance
from dalembert.control.scenes import puzzle
from dalembert.lagrangian import stages
from dalembert.lagrangian.charts import conjugate, rotate
from dalembert.model.rotation import matrix, quat_mul


def held_in_the_world(f, q, p, v, tau, h):
    """The step of director coordinates with forces and torques that are constant in the axes of the world."""
    bare = NULL_SPACE(f, q, p, v, ca.SX.zeros(v.numel()), h)

    def seen(q):
        parts = []
        for i in range(v.numel() // 6):
            back = conjugate(q[7 * i + 3 : 7 * i + 7])
            parts += [rotate(back, tau[6 * i : 6 * i + 3]), rotate(back, tau[6 * i + 3 : 6 * i + 6])]
        return ca.vertcat(*parts)

    return stages.Stage(bare.q, bare.p + 0.5 * h * seen(bare.q), bare.equation - 0.5 * h * seen(q))


NULL_SPACE = stages.STAGES["null-space"]


def test_costs_and_gaps_are_those_of_an_independent_prototype(monkeypatch):
    """Case 1 by other code in director coordinates (margins of 1e-5 m): J and gaps at nodes and between them, to the digits printed."""
    monkeypatch.setitem(stages.STAGES, "null-space", held_in_the_world)
    printed = {None: (131.2373, -1.8e-3), "nodes": (131.2385, 1e-5), "chords": (131.2416, 1e-4)}
    for planes, (cost, gap) in printed.items():
        problem = puzzle.build(avoid=() if planes is None else dal.control.Avoid(True, margin=1e-5, planes=planes))
        problem.made.apart = pairs(problem.machine, True)
        found = problem.solve()
        assert found.ok
        assert found.cost == pytest.approx(cost, abs=1e-4)
        apart = clearance(found)
        assert apart.at_nodes == pytest.approx(gap, rel=0.05)
        if planes == "nodes":
            assert apart.between == pytest.approx(-1.2e-5, rel=0.1)
        if planes == "chords":
            assert apart.between > 0.0


def overlap(solution, grid=25):
    """Least distance of the pieces in any step but the last, and in the last: coal on boxes, motions of the Cayley map written out."""
    boxes = {name: [(np.array(s.position), coal.Box(*s.size)) for s in solution.problem.machine.whole.body(name).shapes] for name in "AB"}
    least = np.full(len(solution.h), np.inf)
    for k, (h, v) in enumerate(zip(solution.h, solution.v_interval, strict=True)):
        for s in np.linspace(0.0, 1.0, grid + 1):
            poses = {}
            for i, name in enumerate("AB"):
                q, x = solution.q[k, 7 * i : 7 * i + 7], s * h * v[6 * i : 6 * i + 6]
                w, u = x[:3], x[3:]
                shift = np.linalg.solve(np.eye(3) - 0.5 * np.cross(np.eye(3), -w), u)  # of the Cayley map of SE(3)
                R = matrix(quat_mul(q[3:], np.array([1.0, *(0.5 * w)]) / np.sqrt(1 + 0.25 * w @ w)))
                poses[name] = R, q[:3] + matrix(q[3:]) @ shift
            for a, first in boxes["A"]:
                for b, second in boxes["B"]:
                    at = [coal.Transform3s(R, x + R @ p) for (R, x), p in ((poses["A"], a), (poses["B"], b))]
                    least[k] = min(least[k], coal.distance(first, at[0], second, at[1], coal.DistanceRequest(), coal.DistanceResult()))
    return least[:-1].min(), least[-1]


@pytest.mark.parametrize("case", [1, 2])
def test_nothing_overlaps_at_or_between_nodes(case):
    """The margin is reported by verify, and found again by a judge of the test. In case 2 the unhindered plan overlaps by 2 cm."""
    found = puzzle.build(case=case).solve()
    for finding in (*scenes.common(found), *puzzle.check(found)):
        assert finding.ok, finding
    evidence = found.verify(true_motion=False)
    assert evidence.ok and "clearance (coal" in evidence.text
    inside, last = overlap(found)
    assert inside == pytest.approx(min(evidence.clearance.at_nodes, evidence.clearance.between), rel=0.05)
    assert inside > 1e-4 - 1e-7 and last > -1e-6
    if case == 2:
        assert found.cost < 34.849  # the better of two basins that the prototype found
