"""What follows a run costs less than the run: building, energies, momentum, poses, report and file of compiled midpoint runs.

python benchmarks/after_a_run.py            least CPU time of five rounds, in ms, per machine: 1000 steps, every node kept
python benchmarks/after_a_run.py --quick    one round, chains up to 320

Targets: kinetic, potential, momentum and poses together cost less than the run; the report less than the run and 50 ms; a run of 50,000
steps (chains from 320 links: 1000) with save= at most twice the run without; building, and the report, grow with the number of links to a
power of at most 1.2 from 20 to 500 links. `peak`: the largest memory of a run of 1000 steps over that of the states that it returns,
without and with save=.
"""

import argparse
import gc
import importlib.metadata
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from trees import chain

import dalembert as dal

CHAINS = (20, 320, 500)
STEPS, MANY, LONG_CHAIN = 1000, 50_000, 320
STEP = 1e-4  # s
COLUMNS = ("build", "first", "run", "energy", "momentum", "poses", "report", "long run", "with save=")


def ur5() -> dal.Model:
    """The robot of example-robot-data, without what midpoint runs leave out."""
    share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    path = share / "example-robot-data" / "robots" / "ur_description" / "urdf" / "ur5_robot.urdf"
    with warnings.catch_warnings(action="ignore"):
        return dal.load_model(path, floating_base=False, package_dirs=[share]).without(("contact", "joint friction", "limits")).copy()


def machines(quick: bool) -> dict[str, Callable[[], dal.Model]]:
    """How each one is built."""
    sizes = CHAINS[:2] if quick else CHAINS
    return {"UR5": ur5, **{f"chain of {n}": lambda n=n: chain(n) for n in sizes}}


def least(run: Callable[[], object], rounds: int) -> float:
    """Least CPU time, ms: others may work on the same machine."""
    found = []
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        run()
        found.append(1e3 * (time.process_time() - began))
    return min(found)


def simulated(m: dal.Model, steps: int = STEPS, **more: object) -> dal.Trajectory:
    """A midpoint run from a random configuration at rest."""
    q = np.random.default_rng(0).uniform(-0.3, 0.3, m.nq)
    return dal.simulate(m, "midpoint", h=STEP, t_end=steps * STEP, q0=q, **more)


def asked(traj: dal.Trajectory, names: tuple[str, ...]) -> None:
    """Attributes of a trajectory, computed anew."""
    for name in names:
        traj.__dict__.pop(name, None)
        getattr(traj, name)


def measure(build: Callable[[], dal.Model], rounds: int) -> dict[str, float]:
    """All columns of one machine, ms, and memory."""
    m = build()
    traj = simulated(m)
    asked(traj, ("kinetic", "potential", "momentum", "poses"))  # compiled
    traj.report()
    steps = STEPS if len(m.bodies) >= LONG_CHAIN else MANY
    with tempfile.TemporaryDirectory() as folder:
        kept = {"save": Path(folder) / "run.h5", "overwrite": True}
        return {
            "build": least(build, rounds),
            "first": least(lambda: simulated(m.copy(), 1), rounds),
            "run": least(lambda: simulated(m), rounds),
            "energy": least(lambda: asked(traj, ("kinetic", "potential")), rounds),
            "momentum": least(lambda: asked(traj, ("momentum",)), rounds),
            "poses": least(lambda: asked(traj, ("poses",)), rounds),
            "report": least(traj.report, rounds),
            "long run": least(lambda: simulated(m, steps), rounds),
            "with save=": least(lambda: simulated(m, steps, **kept), rounds),
            "peak": peak(m),
            "peak, save=": peak(m, **kept),
        }


def peak(m: dal.Model, **more: object) -> float:
    """Largest memory of a run over that of the states that it returns."""
    gc.collect()
    tracemalloc.start()
    traj = simulated(m, STEPS, **more)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(most / traj.states.nbytes)


def targets(table: dict[str, dict[str, float]]) -> list[tuple[str, bool]]:
    """(text, met)"""
    found = []
    for name, row in table.items():
        derived = row["energy"] + row["momentum"] + row["poses"]
        ratio = row["with save="] / row["long run"]
        found.append((f"{name}: energy, momentum and poses {derived:.1f} ms, below the run ({row['run']:.1f} ms)", derived < row["run"]))
        found.append((f"{name}: report {row['report']:.1f} ms, below the run and 50 ms", row["report"] < row["run"] + 50.0))
        found.append((f"{name}: with save= {ratio:.2f} of the run without, at most 2", ratio <= 2.0))
    chains = {int(name.split()[-1]): row for name, row in table.items() if name.startswith("chain")}
    for what in ("build", "first", "report"):
        power = np.polyfit(np.log(list(chains)), np.log([row[what] for row in chains.values()]), 1)[0]
        found.append((f"{what} grows like links^{power:.2f}, at most 1.2", bool(power <= 1.2)))
    return found


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, chains up to 320")
    arguments = parser.parse_args()
    table = {}
    print(f"CPU time, ms\n{'':14}" + "".join(f"{c:>12}" for c in COLUMNS) + f"{'peak':>14}")
    for name, build in machines(arguments.quick).items():
        row = table[name] = measure(build, 1 if arguments.quick else 5)
        print(f"{name:14}" + "".join(f"{row[c]:12.1f}" for c in COLUMNS) + f"{row['peak']:8.1f} /{row['peak, save=']:4.1f}", flush=True)
    print("Targets")
    met = targets(table)
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return 0 if all(ok for _, ok in met) else 1


if __name__ == "__main__":
    sys.exit(main())
