"""DMOC beside direct collocation: build, solve, cost, error against the true motion, error when replayed in the simulator.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/control.py [--quick] [--sections peers precision robots warm chain]

One run, one thread, the same CasADi, IPOPT, blocks and guess for all; wants an idle machine.

    peers       cart-pole (N = 100) and satellite (N = 50): DMOC (`midpoint`), trapezoidal collocation, Hermite-Simpson. Cost error:
                against Hermite-Simpson with 400 steps. True motion: DOP853 under the input of the plan (constant, linear, quadratic in
                a step). Replay: the mean input of each step in `midpoint` at the same h, largest distance of the nodes
    precision   cart-pole: CPU time to an error against the true motion, over N, with steps of order 4 and 6
    robots      UR5, Solo12, humanoid, Talos from a plain guess: seconds to build and to solve
    warm        cart-pole: start disturbed by 1e-3, solved again from the last plan
    chain       a serial chain of 12 hinges under gravity, by continuation in gravity

Targets are printed with their verdict; the exit code is 1 if one is missed. Robots are those of example-robot-data.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from _collocation import Collocation, Plan, Task, cart_pole, satellite, true_motion

import dalembert as dal
from dalembert.control import scenes
from dalembert.control.replay import distance

Judged = list[tuple[str, bool]]
SECTIONS = ("peers", "precision", "robots", "warm", "chain")
ROUNDS = 7


def satellite_model() -> dal.Model:
    """The body of the task."""
    m = dal.Model("satellite", gravity=(0, 0, 0))
    m.add_body("body", 1.0, (1.0, 2.0, 3.0))
    m.add_joint("turn", "spherical", "world", "body")
    return m


def ours(task: Task, N: int, **more: Any) -> Any:
    """The same problem for `dmoc`."""
    if task.name == "cart-pole":
        return scenes.find("cart-pole").build(N=N, **more)
    axis = np.array([1.0, 1.0, 1.0]) / np.sqrt(3.0)
    goal = np.concatenate([[np.cos(0.75)], np.sin(0.75) * axis])
    return dal.control.dmoc(satellite_model(), N, np.array([1.0, 0, 0, 0]), goal, h=task.T / N, **more)


def line(task: Task, N: int) -> Any:
    """The guess of all: straight, with its speed; of a quaternion on the group."""
    s = np.linspace(0.0, 1.0, N + 1)[:, None]
    if task.name == "cart-pole":
        q = s * task.goal[:2]
        return np.hstack([q, np.tile(task.goal[:2] / task.T, (N + 1, 1))])
    axis = np.array([1.0, 1.0, 1.0]) / np.sqrt(3.0)
    return np.hstack([np.cos(0.75 * s), np.sin(0.75 * s) * axis, np.tile(1.5 / task.T * axis, (N + 1, 1))])


def replayed(task: Task, plan: Plan, N: int) -> float:
    """The mean inputs of a collocation in the simulator at the same h: largest distance from its nodes."""
    model = scenes.find("cart-pole").build(N=4).machine.whole if task.name == "cart-pole" else satellite_model()
    tau = np.hstack([plan.mean, np.zeros((N, 1))]) if task.name == "cart-pole" else plan.mean
    nq = model.nq
    run = dal.simulate(model, "midpoint", h=task.T / N, t_end=task.T, q0=task.start[:nq], control=tau, ignore=("limits",))
    machine = dal.control.dmoc(model, 2, run.q[0], None, h=1.0).machine
    return max(distance(machine, a[:nq], b) for a, b in zip(plan.x, run.q, strict=True))


def median_solve(solve: Any, rounds: int) -> tuple[float, Any]:
    """Median CPU seconds of solving, and what was found."""
    times, found = [], None
    for _ in range(rounds + 1):
        began = time.process_time()
        found = solve()
        times.append(time.process_time() - began)
    return statistics.median(times[1:]), found


def peers_section(rounds: int, met: Judged) -> None:
    """All three on both problems."""
    for task, N in ((cart_pole(), 100), (satellite(), 50)):
        best = Collocation(task, 400, True).solve(line(task, 400)).cost
        print(f"\n{task.name}, N = {N}; cost of Hermite-Simpson with 400 steps {best:.8g}")
        print(f"  {'':18s} build ms  solve ms  iterations  cost error  true motion  replayed")
        ours(task, N)  # what is imported on the way is no part of building
        problem = ours(task, N)
        seconds, found = median_solve(problem.solve, rounds)
        check = found.verify()
        rows = {"DMOC": (problem.built, seconds, found.stats["iterations"], abs(found.cost / best - 1), check.true_motion, check.free_run)}
        for name, simpson in (("trapezoidal", False), ("Hermite-Simpson", True)):
            peer = Collocation(task, N, simpson)
            seconds, plan = median_solve(functools.partial(peer.solve, line(task, N)), rounds)
            nq = 2 if task.name == "cart-pole" else 4
            error = float(np.abs(true_motion(task, N, plan.u)[:, :nq] - plan.x[:, :nq]).max())
            rows[name] = peer.build, seconds, plan.iterations, abs(plan.cost / best - 1), error, replayed(task, plan, N)
        for name, (build, solve, iterations, cost, error, replay) in rows.items():
            print(f"  {name:18s} {1e3 * build:8.1f} {1e3 * solve:9.1f} {iterations:11d} {cost:11.1e} {error:12.1e} {replay:9.1e}")
        if task.name == "cart-pole":
            for name, most in (("trapezoidal", 2.0), ("Hermite-Simpson", 1.0)):
                ratio = rows["DMOC"][1] / rows[name][1]
                met.append((f"cart-pole: solve over {name} {ratio:.2f} <= {most:g}", ratio <= most))
            met.append((f"cart-pole: build {rows['DMOC'][0]:.3f} s < 0.1", rows["DMOC"][0] < 0.1))
        for name in ("trapezoidal", "Hermite-Simpson"):
            gain = rows[name][5] / max(rows["DMOC"][5], 1e-300)
            met.append((f"{task.name}: replayed {gain:.1e} times nearer than {name} (1e5)", gain >= 1e5))


def by_formula(N: int, stepper: str) -> Any:
    """The cart-pole as a Lagrangian, whose steppers go to order 6."""
    m1, m2, l, g = 1.0, 0.3, 0.5, 9.81

    def L(q: Any, v: Any) -> Any:
        kinetic = 0.5 * (m1 + m2) * v[0] ** 2 + m2 * l * v[0] * v[1] * ca.cos(q[1]) + 0.5 * m2 * l**2 * v[1] ** 2
        return kinetic + m2 * g * l * ca.cos(q[1])

    system = dal.Lagrangian(2, L, name="cart-pole")
    rail = system.column_names("q")[0]
    given = {"inputs": np.array([[1.0], [0.0]]), "bounds": {"u": 20.0, "q": {rail: 2.0}}}
    return dal.control.dmoc(system, N, np.zeros(2), np.array([1.0, np.pi]), h=2.0 / N, stepper=stepper, **given)


def precision_section(rounds: int, met: Judged) -> None:
    """CPU time and error against the true motion, over N."""
    task, found = cart_pole(), dict[str, list[tuple[float, float, int]]]()
    ways = {
        "midpoint": lambda N: ours(task, N), "midpoint suzuki4": lambda N: ours(task, N, compose="suzuki4"),
        "galerkin4": lambda N: by_formula(N, "galerkin4"), "galerkin6": lambda N: by_formula(N, "galerkin6"),
    }  # fmt: skip
    for N in (15, 20, 25, 35, 50, 70, 100, 140, 200):
        for name, build in ways.items():
            if (200 if name == "midpoint" else 100) >= N:
                problem = build(N)
                seconds, plan = median_solve(problem.solve, rounds)
                if plan.ok and plan.replay.errors.max() < 1e-9:
                    found.setdefault(name, []).append((plan.verify().true_motion, seconds, N))
        peer, start = Collocation(task, N, True), line(task, N)
        seconds, other = median_solve(functools.partial(peer.solve, start), rounds)
        error = float(np.abs(true_motion(task, N, other.u)[:, :2] - other.x[:, :2]).max())
        found.setdefault("Hermite-Simpson", []).append((error, seconds, N))
    print("\ncart-pole: error against the true motion, CPU ms to solve (N)")
    for name, rows in found.items():
        print(f"  {name:18s}" + "   ".join(f"{e:.1e} {1e3 * s:.0f} ({n})" for e, s, n in rows))
    for most in (1e-3, 1e-4, 1e-5):
        best = {name: min((s for e, s, _ in rows if e <= most), default=np.inf) for name, rows in found.items()}
        peer_time = best.pop("Hermite-Simpson")
        name = min(best, key=lambda n: best[n])
        text = f"error of {most:g} against the true motion: {name} {1e3 * best[name]:.0f} ms, Hermite-Simpson {1e3 * peer_time:.0f} ms"
        met.append((text, best[name] < peer_time))


def robot(path: str, floating: bool) -> dal.Model:
    """A robot of the installed collection."""
    share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dal.load_model(share / "example-robot-data" / "robots" / path, floating_base=floating, package_dirs=[share])


def in_flight(m: dal.Model, N: int, T: float, turn: float) -> Any:
    """A floating robot turns its trunk without a push, all joints at rest and as before at the end."""
    q0, root, slices = m.neutral(), m.joints[0], m.q_slices()
    others = [j for j in m.joints if j.name != root.name and j.coordinates.nv]
    goal = {
        "q": {j.name: q0[slices[j.name]] for j in others}, "v": {j.name: np.zeros(j.coordinates.nv) for j in others},
        "poses": {root.child: (None, (np.cos(turn / 2), 0.0, np.sin(turn / 2), 0.0))},
    }  # fmt: skip
    return dal.control.dmoc(m, N, q0, goal, h=T / N, inputs=[j.name for j in others], ignore=("joint friction",), max_iter=400)


def robots_section(quick: bool, met: Judged) -> None:
    """From a plain guess."""
    print("\nrobots: variables, build s, iterations, solve s, one step from every node, free run (growth)")
    humanoid = Path(dal.__file__).parent / "scenes" / "humanoid.xml"
    arm = np.array([0.8, -1.2, 1.0, -0.5, 0.6, 0.3])
    cases: list[tuple[str, Any, float]] = [
        ("UR5, N = 50", lambda: dal.control.dmoc(robot("ur_description/urdf/ur5_robot.urdf", False), 50, np.zeros(6), arm, h=0.02), 2.0),
        ("Solo12, N = 50", lambda: in_flight(robot("solo_description/robots/solo12.urdf", True), 50, 0.5, 0.3), 10.0),
        ("humanoid, N = 50", lambda: in_flight(dal.load_model(humanoid), 50, 0.5, 0.3), 10.0),
    ]
    if not quick:
        cases += [
            ("humanoid, N = 100", lambda: in_flight(dal.load_model(humanoid), 100, 0.5, 0.3), 60.0),
            ("Talos, N = 50", lambda: in_flight(robot("talos_data/robots/talos_reduced.urdf", True), 50, 1.0, 0.2), 60.0),
        ]
    for name, build, most in cases:
        problem = build()
        found = problem.solve()
        check = found.verify(true_motion=False)
        print(
            f"  {name:20s} {problem.chain.size:6d} {problem.built:6.2f} {found.stats['iterations']:5d} {found.stats['seconds']:7.2f} "
            f"{check.one_step.max():9.1e} {check.free_run:9.1e} ({check.growth:.1e})"
        )
        seconds = found.stats["seconds"] + problem.built
        met.append((f"{name}: {seconds:.1f} s <= {most:g}, {found.status.split('.')[0][:60]}", found.ok and seconds <= most))


def warm_section(met: Judged) -> None:
    """Solved again from a start beside the last."""
    problem = scenes.find("cart-pole").build()
    problem.last = problem.solve()
    counts, times = [], []
    for k in range(10):
        began = time.perf_counter()
        found = problem.step((np.array([1e-3, -1e-3]) * (-1) ** k, np.array([1e-3, 1e-3])))
        times.append(time.perf_counter() - began)
        counts.append(found.stats["iterations"])
    print(f"\nwarm: {max(counts)} iterations at most, {1e3 * statistics.median(times):.1f} ms")
    met.append((f"warm: {max(counts)} <= 5 iterations", max(counts) <= 5))


def hinges(n: int, gravity: float) -> dal.Model:
    """A hanging chain of rods, all hinges driven."""
    m = dal.Model(f"chain of {n}", gravity=(0, 0, gravity))
    for i in range(n):
        m.add_body(f"rod{i}", 1.0, (0.0033, 0.0033, 0.0001), com=(0, 0, -0.1), pose=((0, 0, -0.2 * i), (1, 0, 0, 0)))
        m.add_joint(f"hinge{i}", "revolute", "world" if i == 0 else f"rod{i - 1}", f"rod{i}", (0, 0, -0.2 * i), (0, 1, 0))
    return m


def chain_section(met: Judged) -> None:
    """From hanging to a quarter turn of the first hinge, rest to rest; gravity raised in steps, each from the last plan."""
    n, guess, total, count = 12, None, 0.0, 0
    goal = np.zeros(n)
    goal[0] = 0.5 * np.pi
    slow = {"turn": 0.1}  # rad of a hinge in a step: links turn by the sum of them, and the simulator splits steps beyond half a radian
    for gravity in (0.0, -3.0, -6.0, -9.81):
        found = dal.control.dmoc(hinges(n, gravity), 50, np.zeros(n), goal, h=0.02, guess=guess, bounds=slow, max_iter=300).solve()
        total, count = total + found.stats["seconds"], count + found.stats["iterations"]
        if not found.ok:
            break
        guess = found
    plain = dal.control.dmoc(hinges(n, -9.81), 50, np.zeros(n), goal, h=0.02, bounds=slow, max_iter=300).solve()
    print(f"\nchain of {n}: by continuation {'solved' if found.ok else found.status[:80]}, {count} iterations, {total:.1f} s")
    outcome = "solved" if plain.ok else plain.status[:80]
    print(f"  from the line: {outcome}, {plain.stats['iterations']} iterations, {plain.stats['seconds']:.1f} s")
    errors = [float(one.replay.errors.max()) if one.ok else np.inf for one in (found, plain)]
    print(f"  one step from every node {errors[0]:.1e}, {errors[1]:.1e}, cost {found.cost:.6g}, {plain.cost:.6g}")
    met.append((f"chain of {n} hinges under gravity is solved, one step {min(errors):.1e} <= 1e-9", min(errors) <= 1e-9))


def main() -> int:
    """All sections."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no large robots")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=SECTIONS)
    given = parser.parse_args()
    met: Judged = []
    rounds = 2 if given.quick else ROUNDS
    if "peers" in given.sections:
        peers_section(rounds, met)
    if "precision" in given.sections:
        precision_section(rounds, met)
    if "warm" in given.sections:
        warm_section(met)
    if "robots" in given.sections:
        robots_section(given.quick, met)
    if "chain" in given.sections:
        chain_section(met)
    print("\nTargets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return int(not all(ok for _, ok in met))


if __name__ == "__main__":
    sys.exit(main())
