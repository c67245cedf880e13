"""Three robots in smooth motion for 1000 s: a variational method beside MuJoCo's Euler, implicitfast and RK4 at the same step.

    pip install gymnasium example-robot-data        (where the files of the robots come from)
    python examples/robots_without_drift.py [folder for the pages and the picture] [--t-end 1000]

A humanoid (MJCF of gymnasium) and a Solo12 (URDF of example-robot-data) float without gravity, a UR5 (URDF) stands on the ground and swings
under gravity. Damping, stiffness, joint friction and limits are off, so energy is conserved, and momentum of what floats.
The speeds are chosen: fast enough that the drift of RK4 shows within 1000 s, slow enough for the step. In slow motion RK4 is more accurate
for a long time; the humanoid at 4 rad/s and more is too fast for midpoint at this step as well (its energy drifts, or a step fails).
With neither damping nor stiffness, implicitfast is the same method as Euler.
Check: our method keeps the energy in a band without drift and the momentum to round-off; MuJoCo's default integrator does neither.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import warnings
from pathlib import Path

import dalembert as dal
from dalembert.comparison import robots
from dalembert.comparison.conclusion import keeps_energy
from dalembert.view.compare_robots import write_strips

H = 0.01
SPEED = {"humanoid": 2.0, "solo12": 3.0, "ur5": 5.0}  # largest rate of a joint at the start, rad/s
BAND = {"humanoid": 0.02, "solo12": 0.01, "ur5": 0.01}  # allowed energy error; measured over 1000 s: 0.008, 0.005, 0.0004


def robot_files() -> dict[str, Path]:
    """Files of the robots in the installed packages."""
    try:
        share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
        gymnasium = Path(str(importlib.metadata.distribution("gymnasium").locate_file("gymnasium")))
    except importlib.metadata.PackageNotFoundError as problem:
        raise SystemExit(f"{problem.name} is not installed: pip install gymnasium example-robot-data") from None
    assets = gymnasium / "envs" / "mujoco" / "assets"
    urdf = share / "example-robot-data" / "robots"
    return {
        "humanoid": assets / "humanoid.xml",
        "solo12": urdf / "solo_description" / "robots" / "solo12.urdf",
        "ur5": urdf / "ur_description" / "urdf" / "ur5_robot.urdf",
    }


def load(name: str, path: Path) -> dal.Model:
    """The robot without all that is not smooth; what floats also without gravity."""
    share = path.parents[4] if path.suffix == ".urdf" else path.parent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # contacts and motors are not carried over, and not wanted here
        model = dal.load_model(path, floating_base=True if name == "solo12" else None, package_dirs=[share])
    model = robots.smooth(model)
    return model if name == "ur5" else robots.with_gravity(model, (0, 0, 0))


def main(out: Path | None = None, t_end: float = 1000.0) -> None:
    """Run, compare, check, draw."""
    results = []
    for name, path in robot_files().items():
        model = load(name, path)
        q0, v0 = robots.random_start(model, seed=1, speed=SPEED[name])
        result = dal.compare(model, robots.default_methods(model, H), t_end, q0, v0, reference="none")
        print(result.text, *result.conclusion, "", sep="\n")
        ours, euler = result.curves[:2]
        assert result.rows[0].status == "ok" and result.rows[0].energy_band < BAND[name]
        assert keeps_energy(ours["energy_error"]) and not keeps_energy(euler["energy_error"])
        assert name == "ur5" or result.rows[0].momentum < 1e-10
        results.append(result)
        if out is not None:
            print("page:", result.page(out / f"{name}.html"))
    if out is not None:
        print("pictures:", write_strips(results, out / "robots.gif"), write_strips(results, out / "robots.png"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--t-end", type=float, default=1000.0)
    given = parser.parse_args()
    main(given.out, given.t_end)
