"""One engine on one scene of boxes or balls over a plane: run by `contacts.py` in the interpreter that has the engine.

    python _contact_peers.py < request.json > answer.json

request: {"engine": "mujoco" | "bullet", "setting": {...}, "scene": {...}, "h": s, "steps": n, "limit": CPU s}
scene: {"kind": "box" | "sphere", "half": m (half edge, or radius), "mass": kg, "friction": mu, "centres": [[x, y, z], ...],
"walls": half width of a square bin, or null}
answer: CPU seconds per step, and of the bodies: moved (largest distance from the start), fallen, penetration (largest, m), kinetic energy.
"""

import json
import sys
import time

import numpy as np

WALL = 0.5  # m, half thickness


def mjcf(scene, setting, h):
    """The scene as an MJCF text."""
    kind, size, mu = scene["kind"], scene["half"], scene["friction"]
    options = " ".join(f'{k}="{v}"' for k, v in setting.items() if k in ("solver", "integrator", "iterations", "tolerance", "cone"))
    geom = " ".join(f'{k}="{v}"' for k, v in setting.items() if k in ("solref", "solimp"))
    sizes = f"{size} {size} {size}" if kind == "box" else f"{size}"
    lines = [
        f'<mujoco><option timestep="{h!r}" {options}/><size memory="2G"/><worldbody>',
        f'<geom type="plane" size="50 50 1" friction="{mu}" {geom}/>',
    ]
    if scene["walls"]:
        w = scene["walls"] + WALL
        for x, y in ((w, 0), (-w, 0), (0, w), (0, -w)):
            sx, sy = (WALL, w + WALL) if x else (w + WALL, WALL)
            lines.append(f'<geom type="box" pos="{x} {y} 5" size="{sx} {sy} 5" friction="{mu}" {geom}/>')
    for x, y, z in scene["centres"]:
        lines.append(
            f'<body pos="{x!r} {y!r} {z!r}"><freejoint/>'
            f'<geom type="{kind}" size="{sizes}" mass="{scene["mass"]}" friction="{mu}" {geom}/></body>'
        )
    return "".join(lines) + "</worldbody></mujoco>"


def by_mujoco(scene, setting, h, steps, limit):
    """MuJoCo, its loop in Python (a step takes milliseconds)."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(scene, setting, h))
    data = mujoco.MjData(model)
    n = len(scene["centres"])

    def step():
        mujoco.mj_step(model, data)

    def look():
        deep = -data.contact.dist[: data.ncon].min() if data.ncon else 0.0
        v = data.qvel.reshape(n, 6)
        return data.qpos.reshape(n, 7)[:, :3].copy(), deep, v

    return run(step, look, scene, steps, limit, mujoco.__version__)


def by_bullet(scene, setting, h, steps, limit):
    """PyBullet; friction coefficients are multiplied there."""
    import pybullet as p

    p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81)
    p.setTimeStep(h)
    p.setPhysicsEngineParameter(numSolverIterations=int(setting.get("iterations", 50)), deterministicOverlappingPairs=1)
    mu, size = scene["friction"] ** 0.5, scene["half"]
    plane = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
    p.changeDynamics(plane, -1, lateralFriction=mu)
    if scene["walls"]:
        w = scene["walls"] + WALL
        for x, y in ((w, 0), (-w, 0), (0, w), (0, -w)):
            half = [WALL, w + WALL, 5] if x else [w + WALL, WALL, 5]
            wall = p.createMultiBody(0, p.createCollisionShape(p.GEOM_BOX, halfExtents=half), basePosition=[x, y, 5])
            p.changeDynamics(wall, -1, lateralFriction=mu)
    kind = scene["kind"]
    shape = (
        p.createCollisionShape(p.GEOM_BOX, halfExtents=[size] * 3) if kind == "box" else p.createCollisionShape(p.GEOM_SPHERE, radius=size)
    )
    bodies = []
    for centre in scene["centres"]:
        body = p.createMultiBody(scene["mass"], shape, basePosition=centre)
        p.changeDynamics(body, -1, lateralFriction=mu, linearDamping=0, angularDamping=0, restitution=0)
        bodies.append(body)

    def look():
        x = np.array([p.getBasePositionAndOrientation(b)[0] for b in bodies])
        v = np.array([p.getBaseVelocity(b)[0] for b in bodies])
        found = p.getContactPoints()
        deep = -min((c[8] for c in found), default=0.0)
        return x, deep, np.hstack([v, np.zeros_like(v)])

    return run(p.stepSimulation, look, scene, steps, limit, "3.2")


def run(step, look, scene, steps, limit, version):
    """Steps until the end or the limit of CPU time; what is looked at is not timed."""
    start, seconds, done, deep = np.array(scene["centres"]), [], 0, 0.0
    while done < steps and sum(seconds) < limit:
        began = time.process_time()
        step()
        seconds.append(time.process_time() - began)
        done += 1
        if done % 30 == 0 or done == steps:
            x, found, _ = look()
            deep = max(deep, float(found)) if done > steps // 2 else deep
            if not np.isfinite(x).all():
                break
    x, _, v = look()
    moved = float(np.abs(x - start).max()) if np.isfinite(x).all() else float("inf")
    return {
        "version": version,
        "steps": done,
        "median": float(np.median(seconds)),
        "mean": float(np.mean(seconds)),
        "moved": moved,
        "penetration": deep,
        "kinetic": float(0.5 * scene["mass"] * np.square(v[:, :3]).sum() / len(x)),
    }


ENGINES = {"mujoco": by_mujoco, "bullet": by_bullet}

if __name__ == "__main__":
    given = json.load(sys.stdin)
    answer = ENGINES[given["engine"]](given["scene"], given["setting"], given["h"], given["steps"], given["limit"])
    json.dump(answer, sys.stdout)
