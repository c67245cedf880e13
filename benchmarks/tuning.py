"""What the tuning constants of the variational steps of trees do: corrections per step and failures with each of them changed.

python benchmarks/tuning.py                 all constants, each ten times smaller and larger: about half an hour
python benchmarks/tuning.py LARGE SAFETY    some of them

A variant is a copy of the package with one number changed, compiled and run in a process of its own. Printed for each machine: corrections
per step, + steps that were split, ! a run that ended early; then how far momentum or the closing of loops is off (`kept`), relative to the
unchanged package.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
KERNELS = Path("dalembert") / "kernels" / "tree" / "variational"
#: constant: (file, factors)
CONSTANTS = {
    "SLOWEST": ("convergence", (0.1, 5.0)),
    "SAFETY": ("convergence", (1 / 3, 3.0)),
    "AGE": ("convergence", (1 / 1.05, 1.1)),
    "FLOOR": ("convergence", (0.01, 100.0)),
    "LATE_FLOOR": ("convergence", (0.001, 100.0)),
    "LIFTED": ("convergence", (0.01, 100.0)),
    "QUIET": ("convergence", (0.0, 10.0)),
    "FADE": ("convergence", (0.9, 1.004)),
    "ENOUGH": ("newton", (0.0, 1000.0)),
    "TURN": ("newton", (0.1, 10.0)),
    "SHORTEST": ("newton", (0.1, 100.0)),
    "REACH": ("history", (0.1, 10.0)),
    "ROUGH": ("history", (0.1, 10.0)),
    "FEW": ("history", (0.34, 3.0)),
    "BEND": ("trust", (0.2, 5.0)),
    "SHARE": ("trust", (0.1, 9.0)),
    "ASIDE_TURN": ("singular", (0.01, 100.0)),
    "STILL": ("singular", (0.001, 1000.0)),
    "REDUNDANT": ("constrained", (1e-4, 1e4)),
    "VANISHED": ("constrained", (1e-3, 1e3)),
}
RUNS = """
import json, sys
import numpy as np
import dalembert as dal
from dalembert.scenes import loops, trees

def chain(n, length=1.0, **joint):
    m = dal.Model()
    for i in range(n):
        inertia = np.array([.1, .1, .01]) * length**3
        m.add_body(f"b{i}", length, inertia, com=(0, 0, -.5 * length), pose=((0, 0, -i * length), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "revolute", f"b{i-1}" if i else "world", f"b{i}", (0, 0, -i * length), ((0, 1, 0), (1, 0, 0))[i % 2], **joint)
    return m

def bent(n, size):
    return size * np.sin(np.arange(1.0, n + 1))

TURNING = np.array([1.0, 1.0, -1.0])

def square(tilt):
    m, top = dal.Model(gravity=(0, 0, 0)), np.array([0, 0, 1.0])
    ground, turn = np.array([np.cos(tilt), 0, -np.sin(tilt)]), (np.cos(tilt / 2 + np.pi / 4), 0, np.sin(tilt / 2 + np.pi / 4), 0)
    for k in range(2):
        m.add_body(f"u{k}", 1.0, (1 / 12, 1 / 12, 1e-4), com=(0, 0, 0.5), pose=(k * ground, (1, 0, 0, 0)))
        m.add_joint(f"f{k}", "revolute", "world", f"u{k}", k * ground, (0, 1, 0))
    m.add_body("bar", 1.0, (1 / 12, 1 / 12, 1e-4), com=(0, 0, 0.5), pose=(top, turn))
    m.add_joint("left", "revolute", "u0", "bar", top, (0, 1, 0))
    m.add_loop("right", "revolute", "u1", "bar", ground + top, (0, 1, 0))
    return m

def folding(n):
    h = np.pi / n
    return square(.3), h, 40 * h, (np.pi / 2 + .3 - 20 * h) * TURNING, TURNING

CASES = {
    "arm 1 kHz": lambda: (chain(6, .3), .001, 2.0, bent(6, 1.0), None),
    "double": lambda: (chain(2), .01, 30.0, bent(2, 1.5), None),
    "chain 20": lambda: (chain(20, .2), .005, 4.0, bent(20, .5), None),
    "whip 100": lambda: (chain(100), .01, 2.0, np.full(100, .02), None),
    "chain 1000": lambda: (chain(1000, .1), .002, .1, bent(1000, .05), None),
    "coarse": lambda: (chain(3), .03, 21.0, bent(3, 1.2), None),
    "limits": lambda: (chain(4, .5, limits=(-.6, .6), damping=.02), .005, 5.0, bent(4, .5), None),
    "floating": lambda: (trees.floating_chain(), .02, 20.0, None, "spin"),
    "four-bar": lambda: (loops.four_bar(), .01, 10.0, None, loops.turning(1)),
    "fold": lambda: folding(2000),
    "ten four-bars": lambda: (loops.n_four_bar(10), .01, 5.0, None, loops.turning(10)),
}
out = {}
for name, make in CASES.items():
    m, h, t_end, q0, v0 = make()
    if isinstance(v0, str):
        v0 = .5 * np.cos(np.arange(m.nv))
    try:
        traj = dal.simulate(m, "midpoint", h=h, t_end=t_end, q0=q0, v0=v0)
    except dal.SimulationError as error:
        traj = error.trajectory
    n = max(1, len(traj.t) - 1)
    kept = 0.0
    if name == "floating":
        P = traj.momentum
        kept = float(np.abs(P - P[0]).max() / np.abs(P[0]).max())
    elif name == "fold":
        kept = float(np.abs(traj.v - TURNING).max())
    elif m.loops:
        kept = float(np.abs(traj.constraint).max())
    out[name] = [float(traj.solver["iterations"].sum() / n), int(np.count_nonzero(traj.solver["substeps"])), traj.status == "ok", kept]
print(json.dumps(out))
"""


def measure(name: str | None = None, factor: float = 1.0) -> dict[str, list[float]]:
    """Runs of all machines with one constant changed."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SOURCE / "dalembert", Path(folder) / "dalembert", ignore=shutil.ignore_patterns("__pycache__"))
        if name is not None:
            path = Path(folder) / KERNELS / f"{CONSTANTS[name][0]}.py"
            found = re.search(rf"^{name} = ([0-9.e+-]+)", path.read_text(), re.MULTILINE)
            if found is None:
                raise SystemExit(f"{path.name} has no number {name}")
            value = float(found[1]) * factor
            text = str(max(1, round(value))) if "." not in found[1] and "e" not in found[1] else repr(value)
            path.write_text(path.read_text().replace(found[0], f"{name} = {text}", 1))
        env = {**os.environ, "PYTHONPATH": folder, "DALEMBERT_CACHE_DIR": f"{folder}/cache", "DALEMBERT_QUIET": "1"}
        done = subprocess.run([sys.executable, "-c", RUNS], env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
    out: dict[str, list[float]] = json.loads(done.stdout)
    return out


def row(label: str, found: dict[str, list[float]], base: dict[str, list[float]]) -> str:
    """One line of the table."""
    cells = []
    for machine, (corrections, split, ok, kept) in found.items():
        worse = f" kept x{kept / base[machine][3]:.0f}" if base[machine][3] and kept > 3.0 * base[machine][3] else ""
        cells.append(f"{corrections:.2f}{f'+{split:.0f}' if split else ''}{'' if ok else '!'}{worse}")
    return f"{label:18} " + " ".join(f"{cell:>14}" for cell in cells)


def main(names: list[str]) -> None:
    """Print the table."""
    base = measure()
    print(f"{'':18} " + " ".join(f"{machine:>14}" for machine in base))
    print(row("as it is", base, base), flush=True)
    for name in names or CONSTANTS:
        for factor in CONSTANTS[name][1]:
            print(row(f"{name} x {factor:.3g}", measure(name, factor), base), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
