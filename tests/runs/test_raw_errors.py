"""Whatever is given to the public functions, the answer is one sentence of the library's own, and it comes at once."""

import time

import numpy as np
import pytest

import dalembert as dal

TABLES = (np.array([0.1, 0.2]), [0.1], [], {})


def body():
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1, 2, 2.5))
    return m


def run(**given):
    return dal.simulate(body(), **{"h": 0.1, "t_end": 1.0, **given})


def set_gravity(value):
    body().gravity = value


def lagrangian(**given):
    return dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, **given)


CASES = [
    *[(f"every={x!r}", lambda x=x: run(every=x), "every is .*expected a whole number >= 1") for x in (np.nan, np.inf, None, "2", [2])],
    *[(f"h={x!r}", lambda x=x: run(h=x), "h is .*expected a positive, finite number") for x in TABLES],
    *[(f"t_end={x!r}", lambda x=x: run(t_end=x), "t_end is .*expected a positive, finite number") for x in (*TABLES, None, "1")],
    *[(f"stepper={x!r}", lambda x=x: run(stepper=x), "stepper is .*expected a name") for x in TABLES],
    *[(f"compose={x!r}", lambda x=x: run(compose=x), "unknown composition") for x in TABLES],
    *[(f"on_fail={x!r}", lambda x=x: run(on_fail=x), "on_fail is .*expected 'raise'") for x in TABLES],
    *[(f"monitors={x!r}", lambda x=x: run(monitors=x), "monitors is .*expected a list of functions") for x in (None, 3, [3], print)],
    ("progress=[1]", lambda: run(progress=[1]), r"progress is \[1\]; expected True, False, or None"),
    ("save=''", lambda: run(save=""), "save: '' is not the name of a file; expected one such as 'run.h5'"),
    ("save=3", lambda: run(save=3), "save: the path is 3; expected text or a pathlib.Path"),
    ("save='.'", lambda: run().save("."), "save: '.' is not the name of a file"),
    ("load .", lambda: dal.load("."), "load: '.' is not the name of a file"),
    ("load None", lambda: dal.load(None), "load: the path is None"),
    ("resume ''", lambda: dal.resume("", 1.0), "resume: '' is not the name of a file"),
    ("a shape alone", lambda: dal.Model().add_body("b", 1, (1, 1, 1), shapes=dal.Sphere(1.0)), r"body 'b': shapes is .*\[dal.Sphere"),
    *[(f"gravity={x!r}", lambda x=x: set_gravity(x), "model 'body': gravity") for x in ("abc", np.nan, [np.nan, 0, 0], None, [], 10**400)],
    *[(f"params={x!r}", lambda x=x: lagrangian(params=x), "params is .*expected {name: number") for x in (5, "m", [1.0], np.ones(2))],
    *[(f"symmetries={x!r}", lambda x=x: lagrangian(symmetries=x), "symmetries is .*expected a list of generators") for x in (5, None)],
    *[
        (f"step({x!r})", lambda x=x: dal.Simulation(body(), h=0.1).step(x), "step: n is .*whole number >= 0")
        for x in ("a", None, np.nan, -1, [2])
    ],
    *[
        (f"compare({x!r})", lambda x=x: dal.compare(body(), x, 1.0), "compare: methods is .*expected a list")
        for x in (None, 3, [], "cayley")
    ],
    ("compare h", lambda: dal.compare(body(), [("cayley", "x")], 1.0), "h is 'x'; expected a positive"),
    ("compare t_end", lambda: dal.compare(body(), [("cayley", 0.1)], None), "t_end is None"),
    ("compare reference", lambda: dal.compare(body(), [("cayley", 0.1)], 1.0, reference=3), "reference is 3; expected None, 'exact'"),
    ("work_precision", lambda: dal.work_precision(body(), None, [0.1], 1.0), "steppers is None; expected a list"),
    ("body name", lambda: dal.Model().add_body([], 1, (1, 1, 1)), r"name is \[\]; expected a non-empty string"),
    ("joint kind", lambda: body().add_joint("j", [], "world", "b"), "unknown kind of joint 'j'"),
    ("joint parent", lambda: body().add_joint("j", "revolute", {}, "b"), "unknown parent of joint 'j'"),
    ("jacobian", lambda: body().jacobian([], body().neutral()), r"unknown body \[\]"),
    ("integrate", lambda: body().integrate("a", "b"), "q is 'a'; expected an array of numbers"),
    ("at", lambda: run().at("x"), "t = 'x' is outside the run"),
    ("huge", lambda: run(v0=10**400), "model 'body': v is 1000"),
    ("energy_within", lambda: dal.monitors.energy_within(None, 0.1), "expected a Model or a Lagrangian"),
    ("seconds", lambda: dal.monitors.seconds("x"), "expected a positive number"),
    ("scene", lambda: dal.scenes.find([]), r"unknown scene \[\]"),
]


@pytest.mark.parametrize(("call", "match"), [pytest.param(call, match, id=name[:40]) for name, call, match in CASES])
def test_every_wrong_argument_is_answered_by_one_sentence(call, match):
    with pytest.raises(dal.DalembertError, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_number_of_steps_without_divisors_is_answered_at_once():
    """2,147,483,647 is prime: the search for a divisor ends at its square root."""
    began = time.process_time()
    with pytest.raises(dal.OptionError, match="does not divide the 2147483647 steps of the run; the next smaller number that does is 1"):
        dal.simulate(body(), h=1.0, t_end=2147483647.0, every=2**30)
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize(("n", "limit", "found"), [(100, 7, 5), (100, 99, 50), (100, 100, 100), (97, 96, 1), (36, 6, 6), (36, 11, 9)])
def test_the_largest_divisor_below_a_limit(n, limit, found):
    from dalembert.runs.checks import largest_divisor

    assert largest_divisor(n, limit) == found


def test_gravity_may_be_changed_until_a_model_is_frozen():
    m = body()
    m.gravity = (0, 0, -1.62)
    assert m.gravity.tolist() == [0, 0, -1.62]
    assert m.copy().gravity.tolist() == [0, 0, -1.62]
    with pytest.raises(dal.ModelError, match="frozen"):
        m.frozen().gravity = (0, 0, 0)


@pytest.mark.parametrize("name", ["call", "system", "cls", "options"])
@pytest.mark.parametrize("run", [dal.Simulation, lambda m, **given: dal.simulate(m, t_end=0.1, **given)])
def test_a_word_that_is_no_option_of_a_stepper_is_refused_by_name(run, name):
    m = dal.Model("body")
    m.add_body("body", 1.0, (1.0, 2.0, 2.5))
    with pytest.raises(dal.UnknownNameError, match=f"unknown option of stepper .* {name!r}"):
        run(m, **{name: "x"})
