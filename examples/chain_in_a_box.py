"""A chain of four beads in a box: collisions at instants within steps, for as long as one likes.

    python examples/chain_in_a_box.py [folder for the animation]

Beads of 1 kg and 0.1 m radius on links of 1 m, in a box of 8 x 10 x 14 m, no gravity, no friction, no loss; the first bead is pushed. The
motion is chaotic (Leyendecker, Hartmann, Koch, Johnson, Ortiz: Variational collision integrators, 3.3). Each collision, of beads with
walls or with each other, is a node of its own, inserted where a gap is zero. `reflection="nodal"` reflects the momentum there;
"variational" asks that the discrete energy of the next interval is that of the interval before, and the energy of the nodes wanders.
The animation has the same chain, ten times as fast, in a smaller box.
Check: the times of the first four collisions, to order h^2; energy; links; no bead in a wall or in another; the balance of momentum.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dalembert as dal

BOX, RADIUS, H = (8.0, 10.0, 14.0), 0.1, 0.1
START = np.array([(-3, -1, 0), (-1, 1, 0), (1, -1, 0), (3, 1, 0)]) / np.sqrt(8.0)
PUSH = np.array([-0.1, 0.1, -0.1])
TIMES = (126.704193, 176.794097, 190.793423, 222.064464)  # extrapolated from h = 0.025 and 0.0125 s
MOST = (0.004, 0.006, 0.015, 0.045)  # errors at h = 0.1 s: 0.0027, 0.0039, 0.0113, 0.035 s were found
HALF = 0.5  # quaternions whose parts are all one half turn axes into axes, without round-off
SIDES = {
    (1, 0, 0): (HALF, HALF, HALF, HALF),
    (-1, 0, 0): (HALF, HALF, -HALF, -HALF),
    (0, 1, 0): (HALF, -HALF, HALF, HALF),
    (0, -1, 0): (HALF, HALF, HALF, -HALF),
    (0, 0, 1): (1, 0, 0, 0),
    (0, 0, -1): (0, 1, 0, 0),
}


def chain(box: tuple[float, ...] = BOX) -> dal.Model:
    """Six walls, four beads, three links. Neighbours may not touch: their links keep them apart."""
    m = dal.Model("chain in a box", gravity=(0, 0, 0))
    for inward, turn in SIDES.items():
        place = [-0.5 * size * n for size, n in zip(box, inward, strict=True)]
        m.add_shape("world", dal.Plane(position=place, quaternion=turn, friction=0, restitution=1))
    for k, x in enumerate(START):
        m.add_particle(f"bead {k + 1}", 1.0, x, shapes=[dal.Sphere(RADIUS, friction=0, restitution=1)])
    for k in (1, 2, 3):
        m.add_loop(f"link {k}", "distance", f"bead {k}", f"bead {k + 1}")
        m.exclude(f"bead {k}", f"bead {k + 1}")
    return m


def check(traj: dal.Trajectory) -> None:
    """What each run must show."""
    x, table = traj.q.reshape(len(traj), 4, 3), traj.events
    energy = traj.energy / traj.energy[0]
    walls = int((table["a"] == -1).sum())
    print(
        f"{traj.meta['options']['reflection']}: {len(table.rows)} collisions, {walls} with walls; "
        f"E/E0 from {energy.min():.5f} to {energy.max():.5f}"
    )
    assert traj.report().verdict == "pass", traj.report().text
    assert np.abs(energy - 1).max() < 2e-3
    assert np.abs(np.linalg.norm(np.diff(x, axis=1), axis=2) - 1).max() < 1e-12
    assert (np.abs(x).max(axis=(0, 1)) < 0.5 * np.array(BOX) - RADIUS + 1e-12).all()
    for a, b in ((0, 2), (1, 3), (0, 3)):
        assert np.linalg.norm(x[:, a] - x[:, b], axis=1).min() > 2 * RADIUS - 1e-12
    assert np.abs(traj.momentum - traj.momentum[0] - traj.impulse).max() < 1e-11


def main(t_end: float = 2000.0, out: Path | None = None) -> None:
    """Run with both reflections, check, draw."""
    m, start = chain(), {"bead 1": PUSH}
    runs = [dal.simulate(m, "collision", h=H, t_end=t_end, v0=start, reflection=r) for r in ("nodal", "variational")]
    for traj in runs:
        check(traj)
    for k, (found, exact, most) in enumerate(zip(runs[0].events["t"], TIMES, MOST, strict=False)):
        print(f"collision {k + 1}: t = {found:.4f} s, exact {exact:.4f} s")
        assert abs(found - exact) < most
    if out is not None:
        fast = dal.simulate(chain((3.2, 3.6, 4.0)), "collision", h=0.01, t_end=24.0, v0={"bead 1": 10 * PUSH})
        print("animation in", fast.animate(out / "chain.gif", fps=16, seconds=10, size=(400, 400)))


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
