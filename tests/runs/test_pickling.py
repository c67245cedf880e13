"""What a run needs and what it gives crosses process boundaries whole."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

import dalembert as dal
from dalembert import errors

V0 = (0.3, 6.0, 0.1, 0.0, 0.0, 0.0)


def again(x):
    return pickle.loads(pickle.dumps(x))


@pytest.fixture
def racket():
    return dal.scenes.find("tennis-racket").model()


def oscillator():
    return dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, force=lambda q, v: [-0.1 * v[0]])


def runs():
    racket, chain = dal.scenes.find("tennis-racket").model(), dal.scenes.find("pendulum-chain").model()
    yield "body", lambda: dal.simulate(racket, "cayley", h=0.01, t_end=0.2, v0=V0)
    yield "composed", lambda: dal.simulate(racket, "cayley", h=0.01, t_end=0.2, v0=V0, compose="suzuki4")
    yield "tree", lambda: dal.simulate(chain, "mk4", h=0.01, t_end=0.2, v0=(1, 0, 0))
    yield "lagrangian", lambda: dal.simulate(oscillator(), "verlet", h=0.01, t_end=0.2, q0=[1.0])
    yield "scipy", lambda: dal.simulate(oscillator(), "dop853", h=0.01, t_end=0.2, q0=[1.0])


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in runs()])
def test_trajectories_pickle(make):
    traj = make()
    before = traj.report().to_dict()
    other = again(traj)
    assert other.stepper == traj.stepper
    assert other.meta == traj.meta
    for name in ("t", "q", "v", "v_interval", "energy", "momentum", "states"):
        assert (getattr(other, name) == getattr(traj, name)).all(), name
    assert other.report().to_dict() == before


def test_forces_that_are_functions_stay_behind_as_in_a_file(racket):
    racket.add_force(lambda t, q, v: np.zeros(6))
    traj = dal.simulate(racket, "cayley", h=0.01, t_end=0.1, v0=V0)
    other = again(traj)
    assert not other.model.forces
    assert (other.energy == traj.energy).all()
    assert len(traj.model.forces) == 1


def test_the_trajectory_of_a_stepper_that_is_not_installed_keeps_its_description(racket):
    from dalembert import registry

    @dal.stepper("only-here", order=1, conserves=("attitude: exactly",))
    def still(m, t, q, v, h):
        return q, v

    try:
        data = pickle.dumps(dal.simulate(racket, "only-here", h=0.1, t_end=1.0, v0=V0))
    finally:
        del registry._steppers["any", "only-here"]
    assert pickle.loads(data).stepper.promise("attitude") == "exactly"


@pytest.mark.parametrize("copied", [again, copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"])
def test_simulations_pickle_and_go_on_bit_for_bit(racket, copied):
    sim = dal.Simulation(racket, "cayley", h=0.01, v0=V0)
    sim.step(10)
    sim.apply_force("body", force=(1, 0, 0))
    other = copied(sim)
    for s in (sim, other):
        s.step(10)
    assert len(sim.trajectory()) == len(other.trajectory()) == 21
    assert (sim.trajectory().states == other.trajectory().states).all()
    assert other.state.t == sim.state.t


def kinds():
    found, left = [], [errors.DalembertError]
    while left:
        kind = left.pop()
        found.append(kind)
        left += kind.__subclasses__()
    return found


@pytest.mark.parametrize("kind", kinds(), ids=lambda k: k.__name__)
def test_every_exception_pickles_with_what_it_carries(kind, racket):
    given = {
        errors.UnknownNameError: lambda: kind("stepper", "cayly", ["tln", "cayley"]),
        errors.AssemblyError: lambda: kind("open", q=np.arange(3.0), errors={"pin": 0.5}),
        errors.SimulationError: lambda: kind("failed", dal.simulate(racket, h=0.01, t_end=0.1, v0=V0), step=3, h=0.01),
    }
    error = given.get(kind, lambda: kind("a sentence"))()
    error.extra = 1
    other = again(error)
    assert type(other) is kind
    assert str(other) == str(error)
    assert vars(other).keys() == vars(error).keys()
    if kind is errors.SimulationError:
        assert other.facts == {"step": 3, "h": 0.01}
        assert (other.traj.q == error.traj.q).all()


def test_processes_give_back_runs_and_failures_whole(racket):
    run = partial(dal.simulate, racket, "moser-veselov-cayley", t_end=1.0, v0=V0)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        good, bad = pool.submit(run, h=0.01), pool.submit(run, h=0.5)
        assert (good.result().states == run(h=0.01).states).all()
        with pytest.raises(dal.SimulationError, match="step 0 at t = 0 s") as caught:
            bad.result()
    assert len(caught.value.traj) == 1
