"""Studies: thousands of runs on two cores, beside `mujoco.rollout`; what a sample costs; how workers help.

    python benchmarks/ensembles.py [--quick] [--sections bodies rollout overhead values workers]

Wall time, medians of interleaved rounds; wants an idle machine with two cores.

    bodies     50,000 draws of a rigid body, 100 steps each of `cayley`
    rollout    10,000 double pendulums of 10 s at h = 0.01 (1e7 steps) and chains of 10 links: `midpoint`, last nodes kept, beside
               mujoco.rollout with RK4 on as many threads, which keeps every state: its arrays are made beforehand
    overhead   samples of one step: us for each beside the step
    values     the same where each sample is a machine with masses and dampers of its own
    workers    the same study on one and on two workers: threads, and processes of a local Dask cluster (skipped where it is not installed)

Targets are printed with their verdict; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from trees import chain, chain_mujoco

import dalembert as dal
from dalembert.ensembles.cluster import connected
from dalembert.errors import UnsupportedError

Judged = list[tuple[str, bool]]
SECTIONS = ("bodies", "rollout", "overhead", "values", "workers")
H = 0.01
RNG = np.random.default_rng(0)


def wall(run: Callable[[], object]) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def rounds(contestants: dict[str, Callable[[], object]], count: int) -> dict[str, float]:
    """Median wall seconds, interleaved."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(count):
        for name, run in contestants.items():
            times[name].append(wall(run))
    return {name: statistics.median(values) for name, values in times.items()}


def rigid_body() -> dal.Model:
    """A free body."""
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("body", 1.0, (1.0, 2.0, 3.0))
    return m


def bodies_section(quick: bool, met: Judged) -> None:
    """Many short runs."""
    n = 5_000 if quick else 50_000
    m, v0 = rigid_body(), RNG.normal(size=(n, 6))
    dal.ensemble(m, {"v0": v0[:100]}, "cayley", h=H, t_end=1.0)
    seconds = wall(lambda: dal.ensemble(m, {"v0": v0}, "cayley", h=H, t_end=1.0))
    print(f"\nbodies: {n} draws of 100 steps in {seconds:.2f} s, {1e6 * seconds / n:.1f} us for each")
    met.append((f"bodies: {seconds * 50_000 / n:.1f} s for 50,000 draws <= 10", seconds * 50_000 / n <= 10.0))


def rollout(n_links: int, starts: np.ndarray, steps: int, threads: int) -> Callable[[], object]:
    """mujoco.rollout of chains, with its arrays made beforehand."""
    model = chain_mujoco(n_links, H, "RK4")
    data = [mujoco.MjData(model) for _ in range(threads)]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    first = np.zeros((len(starts), size))
    first[:, 1 : 1 + n_links] = starts
    state, sensors = np.empty((len(starts), steps, size)), np.empty((len(starts), steps, model.nsensordata))
    pool = mujoco.rollout.Rollout(nthread=threads)
    return lambda: pool.rollout(model, data, first, nstep=steps, state=state, sensordata=sensors)


def rollout_section(quick: bool, met: Judged) -> None:
    """Beside MuJoCo."""
    threads = 2
    for links, n, most in ((2, 1_000 if quick else 10_000, 0.5), (10, 200 if quick else 1_000, 0.5)):
        m, starts, steps = chain(links), RNG.uniform(-1, 1, (n, links)), 1000
        ours = {"dalembert midpoint": lambda m=m, s=starts: dal.ensemble(m, {"q0": s}, "midpoint", h=H, t_end=10.0, workers=threads)}
        ours["dalembert midpoint"]()
        found = rounds({**ours, "mujoco.rollout RK4": rollout(links, starts, steps, threads)}, 1 if quick else 3)
        print(f"\nrollout: {n} chains of {links}, {n * steps:.0e} steps, {threads} threads")
        for name, seconds in found.items():
            print(f"  {name:20s} {seconds:7.2f} s   {1e6 * seconds * threads / (n * steps):6.3f} us of a core for each step")
        ratio = found["dalembert midpoint"] / found["mujoco.rollout RK4"]
        met.append((f"chains of {links}: {ratio:.2f} of the time of mujoco.rollout <= {most}", ratio <= most))
        if links == 2:
            seconds = found["dalembert midpoint"] * 10_000 / n
            met.append((f"10,000 double pendulums of 10 s: {seconds:.1f} s <= 10", seconds <= 10.0))


def overhead_section(quick: bool, met: Judged) -> None:
    """One step each: what is left is what a sample costs."""
    n, m = 2_000 if quick else 20_000, chain(2)
    starts = RNG.uniform(-1, 1, (n, 2))
    one = {"one step": lambda: dal.ensemble(m, {"q0": starts}, "midpoint", h=H, t_end=H, workers=1)}
    one["one step"]()
    each = 1e6 * rounds(one, 5)["one step"] / n
    print(f"\noverhead: {each:.1f} us for a sample of one step")
    met.append((f"overhead: {each:.1f} us for each sample <= 20", each <= 20.0))


def values_section(quick: bool, met: Judged) -> None:
    """One step each, of machines with their own numbers."""
    n, m = 2_000 if quick else 20_000, chain(2)
    names = [f"{body.name}.mass" for body in m.bodies] + [f"{joint.name}.damping" for joint in m.joints]
    samples = {name: RNG.uniform(0.5, 1.5, n) for name in names} | {"q0": RNG.uniform(-1, 1, (n, 2))}
    one = {"one step": lambda: dal.ensemble(m, samples, "midpoint", h=H, t_end=H, workers=1)}
    one["one step"]()
    each = 1e6 * rounds(one, 5)["one step"] / n
    print(f"\nvalues: {each:.1f} us for a sample of one step with {len(names)} numbers of its machine")
    met.append((f"values: {each:.1f} us for each sample <= 20", each <= 20.0))


def workers_section(quick: bool, met: Judged) -> None:
    """Efficiency of two workers."""
    n, m = 400 if quick else 8_000, chain(3)
    starts = RNG.uniform(-1, 1, (n, 3))

    def study(executor: Any, workers: int) -> object:
        return dal.ensemble(m, {"q0": starts}, "midpoint", h=H, t_end=10.0, executor=executor, workers=workers)

    study("here", 1)
    found = rounds({"one": lambda: study("here", 1), "two threads": lambda: study("threads", 2)}, 1 if quick else 3)
    share = found["one"] / (2 * found["two threads"])
    print(f"\nworkers: one {found['one']:.2f} s, two threads {found['two threads']:.2f} s: efficiency {share:.2f}")
    met.append((f"two threads: efficiency {share:.2f} >= 0.9", share >= 0.9))
    times = {}
    for workers in (1, 2):
        try:
            with connected("dask", workers) as client:  # the cluster of executor="dask", without the time that it takes to start
                study(client, workers)  # loads the kernels
                times[workers] = statistics.median(wall(lambda c=client, w=workers: study(c, w)) for _ in range(1 if quick else 5))
        except UnsupportedError as missing:
            print(f"  {missing}: skipped")
            return
    share = times[1] / (2 * times[2])
    print(f"  Dask: one worker {times[1]:.2f} s, two {times[2]:.2f} s: efficiency {share:.2f}")
    met.append((f"two Dask workers: efficiency {share:.2f} >= 0.9", share >= 0.9))


def main() -> int:
    """All sections."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=SECTIONS)
    given = parser.parse_args()
    met: Judged = []
    for name in given.sections:
        sections = {"bodies": bodies_section, "rollout": rollout_section, "overhead": overhead_section, "values": values_section}
        {**sections, "workers": workers_section}[name](given.quick, met)
    print("\nTargets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return int(not all(ok for _, ok in met))


if __name__ == "__main__":
    sys.exit(main())
