"""Where searches for plans with contacts begin, and what `dmocc` refuses."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import Touch, dmocc
from dalembert.control.contact_guess import forward
from dalembert.control.scenes import cube_wall, two_cubes
from dalembert.model.rotation import matrix

CORNER = cube_wall.CORNER


def test_times_of_contacts_come_from_a_run_forwards():
    """Without inputs the corner is at the wall after 0.2187 s: phases begin with that, to within a step of the run."""
    problem = cube_wall.build(guess="dcr")
    traj = forward(problem, problem.contacts, None)
    struck = traj.events["t"][0]
    problem.first_guess()
    assert 9 * problem.h[0] == pytest.approx(struck) and 9 * problem.h[0] + 21 * problem.h[1] == pytest.approx(0.75)
    assert struck == pytest.approx(0.2187, abs=0.75 / 120)
    found = problem.solve()
    assert found.ok and found.impacts[0].t == pytest.approx(0.2176, abs=1e-4)


@pytest.mark.parametrize("guess", ["line", "dcr", "random"])
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_one_minimum_from_all_guesses(guess, restitution):
    found = cube_wall.build(guess=guess, restitution=restitution).solve()
    t, cost = cube_wall.FOUND[restitution]
    assert found.ok and found.cost == pytest.approx(cost, rel=1e-3) and found.impacts[0].t == pytest.approx(t, abs=2e-5)


def test_the_straight_way_leads_by_closed_contacts():
    problem = cube_wall.build()
    z = problem.first_guess()
    (c,) = problem.contacts
    assert abs(c.gap.number(z[problem.chain.q[9]])) < 1e-12


def test_a_run_that_is_pushed_finds_two_collisions():
    """Two cubes: blue waits, then pushes towards green with 8 N and is kept from turning."""

    def push(t, q, v):
        return np.concatenate([-0.02 * v[:3], matrix(q[3:7]).T @ [8.0 * (t > 0.2), 0, 0], np.zeros(6)])

    problem = two_cubes.build(guess={"dcr": push})
    z = problem.first_guess()
    t = np.cumsum(problem.h * np.array(problem.chain.phases))
    assert 0.1 < t[0] < 0.25 < t[1] < 0.5 and np.isfinite(z).all()
    with pytest.raises(dal.OptionError, match="has 1 impacts, and none of blue on green"):
        two_cubes.build(guess="dcr").first_guess()


def small(**more):
    m = cube_wall.model()
    q = m.neutral()
    q[0] = 0.3
    return dmocc(m, 10, q, q, **{"contacts": [Touch("cube", 5, point=CORNER)], "h": 0.01, **more})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"contacts": []}, "there are no contacts"),
        ({"contacts": [3]}, "is no contact"),
        ({"contacts": [Touch("cube", 11, point=CORNER)]}, "expected a whole number from 0 to N = 10"),
        ({"contacts": [Touch("cube", point=CORNER)]}, "node is None"),
        ({"contacts": [Touch("cub", 5, point=CORNER)]}, "did you mean 'cube'"),
        ({"contacts": [Touch("cube", 5)]}, "expected point="),
        ({"contacts": [Touch("cube", 5, point=(np.nan, 0, 0))]}, "three finite numbers"),
        ({"contacts": [Touch("cube", 5, point=CORNER, plane=3)]}, "the world has planes 0 to 0"),
        ({"contacts": [Touch("cube", 5, point=CORNER, plane="x")]}, "normal, offset"),
        ({"contacts": [Touch("cube", 5, point=CORNER, on="cube", face="+x")]}, "expected two bodies"),
        ({"contacts": [Touch("cube", 5, point=CORNER, restitution=2.0)]}, "from 0 to 1"),
        ({"contacts": [Touch("cube", 5, point=CORNER, restitution=0.5, hold=2)]}, "does not bounce"),
        ({"contacts": [Touch("cube", 5, point=CORNER, hold=6)]}, "beyond N = 10"),
        ({"contacts": [Touch("cube", 5, point=CORNER, radius=0.1, friction=0.5)]}, "without a radius"),
        ({"contacts": [Touch("cube", 0, point=CORNER)]}, "planned at the start"),
        ({"contacts": [Touch("cube", 5, point=CORNER)] * 2}, "planned twice at node 5"),
        ({"contacts": [{"body": "cube", "nodes": 3}]}, "did you mean 'node'"),
        ({"contacts": [Touch(gap=lambda q: q[:2], node=5)]}, "expected one number"),
        ({"restitution": np.nan}, "restitution is nan"),
        ({"sigma": (2.0, 1.0)}, "0 < least <= 1 <= most"),
        ({"sigma": [(0.3, 3.0)] * 5}, "one for each phase"),
        ({"contact": "hard"}, "Known: penalty, planned"),
        ({"h": None}, "neither h nor free_time"),
    ],
)
def test_what_is_wrong_is_named(wrong, words):
    with pytest.raises(dal.DalembertError, match=words):
        small(**wrong)


def test_a_start_inside_a_wall_is_refused():
    m = cube_wall.model()
    with pytest.raises(dal.OptionError, match=r"overlap by 0\.05 m"):
        dmocc(m, 10, m.neutral(), m.neutral(), contacts=[Touch("cube", 5, point=CORNER)], h=0.01)


def test_a_contact_out_of_reach_is_named():
    found = small(bounds={"u": 0.001}, max_iter=100).solve()
    assert not found.ok and "gap of cube on world at node 5" in found.status
