"""A wall of 990 boxes, h = 1/60 s: dalembert's SPOOK, each step solved to round-off, beside MuJoCo and, where it is installed, PyBullet.

    python examples/pyramid_beside_mujoco.py [folder for the picture and the animation]

All start from the same place with the same masses, friction (0.5) and step. MuJoCo: CG, elliptic cone; Bullet: 200 iterations.
Takes some minutes. Check: the wall of dalembert stands, no box moves by 0.1 mm.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import dalembert as dal
from dalembert.scenes.contact_piles import EDGE, FRICTION, H, pyramid
from dalembert.view.gif import gif_bytes
from dalembert.view.sphere import com_paths
from dalembert.view.stage import Stage

SIZE = (420, 400)
FRAMES, SHOWN = 50, 5.0  # images of the animation, and the time that they cover, s


def with_mujoco(model: Any) -> tuple[str, Callable[[], None], Callable[[], np.ndarray]]:
    """Name, step, q."""
    import mujoco

    half = EDGE / 2
    boxes = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="box" size="{half} {half} {half}" mass="1"/></body>'
        for x, y, z in (b.position for b in model.bodies)
    )
    xml = f"""<mujoco><option timestep="{H}" solver="CG" cone="elliptic"/><size memory="2G"/>
    <default><geom friction="{FRICTION}"/></default>
    <worldbody><geom type="plane" size="0 0 1"/>{boxes}</worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    return f"MuJoCo {mujoco.__version__}, CG", lambda: mujoco.mj_step(m, d), lambda: d.qpos.copy()


def with_bullet(model: Any) -> tuple[str, Callable[[], None], Callable[[], np.ndarray]]:
    """Name, step, q. Coefficients of friction are multiplied there."""
    import pybullet as p

    p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81)
    p.setTimeStep(H)
    p.setPhysicsEngineParameter(numSolverIterations=200)
    bodies = [p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))]
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[EDGE / 2] * 3)
    bodies += [p.createMultiBody(1.0, shape, basePosition=b.position.tolist()) for b in model.bodies]
    for b in bodies:
        p.changeDynamics(b, -1, lateralFriction=FRICTION**0.5)

    def q() -> np.ndarray:
        found = [p.getBasePositionAndOrientation(b) for b in bodies[1:]]
        return np.array([(*x, w, i, j, k) for x, (i, j, k, w) in found]).ravel()

    return "Bullet, 200 iterations", p.stepSimulation, q


def moved(q: np.ndarray) -> float:
    """How far a box has gone at the end, m."""
    places = q.reshape(len(q), -1, 7)[..., :3]
    return float(np.linalg.norm(places[-1] - places[0], axis=1).max())


def main(t_end: float = 30.0, out: Path | None = None, rows: int = 44) -> None:
    """Run, compare, check, draw."""
    model, steps = pyramid(rows), round(t_end / H)
    dal.simulate(pyramid(3), "spook", h=H, t_end=3 * H)  # compile
    began = time.perf_counter()
    ours = dal.simulate(model, "spook", h=H, t_end=steps * H, contacts="none")
    runs = {"dalembert": (ours.q, (time.perf_counter() - began) / steps)}
    for module, build in (("mujoco", with_mujoco), ("pybullet", with_bullet)):
        if importlib.util.find_spec(module) is None:
            continue
        name, step, look = build(model)
        nodes, began = [look()], time.perf_counter()
        for _ in range(steps):
            step()
            nodes.append(look())
        runs[name] = np.array(nodes), (time.perf_counter() - began) / steps
    for name, (q, cost) in runs.items():
        print(f"{len(model.bodies)} boxes, {name}: after {steps * H:.1f} s moved {1e3 * moved(q):.3g} mm, {1e3 * cost:.1f} ms per step")
    assert moved(ours.q) < 1e-4
    if out is not None:
        draw(out, ours.model, {name: q for name, (q, _) in runs.items()})


def draw(out: Path, model: Any, runs: dict[str, np.ndarray]) -> None:
    """All beside each other: at the end, and as an animation of the first seconds."""
    start = runs["dalembert"][:1]
    wide = start.copy().reshape(1, -1, 7)
    wide[..., 0] *= 1.35  # room for what falls
    both = np.concatenate([start, wide.reshape(1, -1)])
    centres = np.stack(com_paths(model, both), axis=1)
    stages = {name: Stage(model, model.poses(both), centres, SIZE, name) for name in runs}

    def image(k: int) -> Image.Image:
        picture = Image.new("RGB", (len(runs) * SIZE[0], SIZE[1]))
        for i, (name, q) in enumerate(runs.items()):
            centre = np.stack(com_paths(model, q[k : k + 1]), axis=1)[0]
            drawn = stages[name].draw(model.poses(q[k : k + 1])[0], centre, f"t = {k * H:.1f} s", centre[None])
            picture.paste(drawn.convert("RGB"), (i * SIZE[0], 0))
        return picture

    last = len(runs["dalembert"]) - 1
    image(last).save(out / "pyramid.png", optimize=True)
    shown = np.linspace(0, min(last, round(SHOWN / H)), FRAMES).astype(int)
    (out / "pyramid.gif").write_bytes(gif_bytes(lambda k: image(int(shown[k])), FRAMES, 100))
    print("pictures in", out)


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
