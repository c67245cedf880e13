"""One engine on scenes of cubes or balls: run by `contacts.py` in the interpreter that has the engine.

    python _contact_peers.py < request.json > answers

request: {"engine": one of ENGINES, "setting": {...}, "runs": [{"scene": {...}, "h": s, "steps": n, "limit": CPU s}, ...]}
scene: {"kind": "box" | "sphere", "half": m (half edge, or radius), "mass": kg, "friction": mu, "centres": [[x, y, z], ...],
"walls": half width of a square bin, or null, "gravity": [x, y, z], "plane": true for a floor z = 0, "velocities": [[x, y, z], ...] or null}
answers: a line of JSON per run: CPU seconds per step, and of the bodies: moved (largest distance from the start), errors of energy and
momentum (`judged`), and poses at some moments of the second half, of which the caller measures the overlap: one judge for all engines.

An engine is a function (scene, setting, h) -> (step(), look(), version); look() gives positions (n, 3), quaternions (n, 4; scalar first),
velocities and angular velocities (n, 3), all in world axes.
"""

import json
import os
import sys
import time

import numpy as np

WALL = 0.5  # m, half thickness
SNAPSHOTS = 5


def walls(scene):
    """(centre, half sizes) of the boxes around a bin."""
    if not scene["walls"]:
        return []
    w = scene["walls"] + WALL
    return [((x, y, 5.0), (WALL, w + WALL, 5.0) if x else (w + WALL, WALL, 5.0)) for x, y in ((w, 0), (-w, 0), (0, w), (0, -w))]


def velocities(scene):
    """(n, 3)."""
    return np.zeros((len(scene["centres"]), 3)) if scene["velocities"] is None else np.array(scene["velocities"], dtype=float)


def inertia(scene):
    """The same about every axis."""
    return scene["mass"] * scene["half"] ** 2 * (2.0 / 3.0 if scene["kind"] == "box" else 0.4)


def invariants(scene, x, v, w):
    """Energy and (angular, linear) momentum (6,) about the origin."""
    m, I = scene["mass"], inertia(scene)
    energy = 0.5 * m * np.square(v).sum() + 0.5 * I * np.square(w).sum() - m * (x @ np.array(scene["gravity"])).sum()
    return float(energy), np.concatenate([m * np.cross(x, v).sum(axis=0) + I * w.sum(axis=0), m * v.sum(axis=0)])


def judged(scene, start, rows):
    """rows of invariants: energy gained at most (J per body: above the least before), change of momentum over what moves at the start."""
    energy = np.array([e for e, _ in rows])
    gained = float((energy - np.minimum.accumulate(energy)).max()) / len(scene["centres"])
    v = velocities(scene)
    moving = scene["mass"] * np.array([np.linalg.norm(np.cross(start, v), axis=1).sum()] * 3 + [np.linalg.norm(v, axis=1).sum()] * 3)
    change = np.abs(np.array([p for _, p in rows]) - rows[0][1]).max(axis=0)
    return gained, float((change / np.maximum(moving, 1e-300)).max()) if moving.all() else None


def run(made, scene, steps, limit):
    """Steps until the end or the limit of CPU time; what is looked at is not timed."""
    step, look, version = made
    start, seconds, done, rows, poses, trace = np.array(scene["centres"]), [], 0, [], [], []
    every = 5 if len(start) <= 200 else 30
    rows.append(invariants(scene, start, velocities(scene), np.zeros_like(start)))
    spent = 0.0
    while done < steps and spent < limit:
        began = time.process_time()
        step()
        seconds.append(time.process_time() - began)
        spent, done = spent + seconds[-1], done + 1
        if done % every == 0 or done == steps or spent >= limit:
            x, q, v, w = look()
            if not (np.isfinite(x).all() and np.isfinite(v).all()):
                rows.append((float("inf"), np.full(6, np.inf)))
                break
            rows.append(invariants(scene, x, v, w))
            poses.append(np.hstack([x, q]).tolist())
            trace.append([done, *x[0].tolist()])
    x, _, v, _ = look()
    gained, momentum = judged(scene, start, rows)
    late = poses[len(poses) // 2 :]
    return {
        "version": version,
        "steps": done,
        "median": float(np.median(seconds)),
        "mean": float(np.mean(seconds[1:] or seconds)),
        "moved": float(np.linalg.norm(x - start, axis=1).max()) if np.isfinite(x).all() else float("inf"),
        "kinetic": float(0.5 * scene["mass"] * np.square(v).sum() / len(x)),
        "gained": gained,
        "momentum": momentum,
        "trace": trace,  # of the first body: step, position
        "poses": late[:: max(1, len(late) // SNAPSHOTS)],
    }


# MuJoCo --------------------------------------------------------------------------------------------------------------------------------


def mjcf(scene, setting, h):
    """The scene as an MJCF text."""
    kind, size, mu = scene["kind"], scene["half"], scene["friction"]
    options = " ".join(f'{k}="{v}"' for k, v in setting.items() if k in ("solver", "integrator", "iterations", "tolerance", "cone"))
    geom = f'friction="{mu}" ' + " ".join(f'{k}="{v}"' for k, v in setting.items() if k in ("solref", "solimp"))
    sizes = f"{size} {size} {size}" if kind == "box" else f"{size}"
    gravity = " ".join(map(repr, scene["gravity"]))
    lines = [f'<mujoco><option timestep="{h!r}" gravity="{gravity}" {options}/><size memory="2G"/><worldbody>']
    if scene["plane"]:
        lines.append(f'<geom type="plane" size="50 50 1" {geom}/>')
    for (x, y, z), (a, b, c) in walls(scene):
        lines.append(f'<geom type="box" pos="{x} {y} {z}" size="{a} {b} {c}" {geom}/>')
    for x, y, z in scene["centres"]:
        lines.append(f'<body pos="{x!r} {y!r} {z!r}"><freejoint/><geom type="{kind}" size="{sizes}" mass="{scene["mass"]}" {geom}/></body>')
    return "".join(lines) + "</worldbody></mujoco>"


def by_mujoco(scene, setting, h):
    """MuJoCo, its loop in Python (a step takes milliseconds)."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(scene, setting, h))
    data = mujoco.MjData(model)
    n = len(scene["centres"])
    data.qvel.reshape(n, 6)[:, :3] = velocities(scene)

    def look():
        q, v = data.qpos.reshape(n, 7), data.qvel.reshape(n, 6)
        R = data.xmat.reshape(-1, 3, 3)[1:]
        return q[:, :3].copy(), q[:, 3:].copy(), v[:, :3].copy(), np.einsum("nij,nj->ni", R, v[:, 3:])

    return lambda: mujoco.mj_step(model, data), look, mujoco.__version__


# PyBullet ------------------------------------------------------------------------------------------------------------------------------


def by_bullet(scene, setting, h):
    """PyBullet; friction coefficients are multiplied there."""
    import importlib.metadata

    import pybullet as p

    if p.isConnected():
        p.disconnect()
    p.connect(p.DIRECT)
    p.setGravity(*scene["gravity"])
    p.setTimeStep(h)
    p.setPhysicsEngineParameter(numSolverIterations=int(setting.get("iterations", 50)), deterministicOverlappingPairs=1)
    mu, size = scene["friction"] ** 0.5, scene["half"]
    fixed = [(p.createCollisionShape(p.GEOM_PLANE), (0, 0, 0))] if scene["plane"] else []
    fixed += [(p.createCollisionShape(p.GEOM_BOX, halfExtents=half), place) for place, half in walls(scene)]
    for shape, place in fixed:
        p.changeDynamics(p.createMultiBody(0, shape, basePosition=place), -1, lateralFriction=mu)
    box = scene["kind"] == "box"
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[size] * 3) if box else p.createCollisionShape(p.GEOM_SPHERE, radius=size)
    bodies = []
    for centre, velocity in zip(scene["centres"], velocities(scene), strict=True):
        body = p.createMultiBody(scene["mass"], shape, basePosition=centre)
        p.changeDynamics(body, -1, lateralFriction=mu, linearDamping=0, angularDamping=0, restitution=0)
        p.resetBaseVelocity(body, velocity.tolist(), [0, 0, 0])
        bodies.append(body)

    def look():
        poses = [p.getBasePositionAndOrientation(b) for b in bodies]
        rates = [p.getBaseVelocity(b) for b in bodies]
        x, q = (np.array([a[i] for a in poses]) for i in (0, 1))
        v, w = (np.array([a[i] for a in rates]) for i in (0, 1))
        return x, q[:, [3, 0, 1, 2]], v, w

    return p.stepSimulation, look, importlib.metadata.version("pybullet")


if __name__ == "__main__":
    from _contact_peers_more import by_dart, by_drake, by_newton

    ENGINES = {"mujoco": by_mujoco, "bullet": by_bullet, "drake": by_drake, "dart": by_dart, "newton": by_newton}
    given = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w")  # engines print what they like
    os.dup2(2, 1)
    for one in given["runs"]:
        made = ENGINES[given["engine"]](one["scene"], given["setting"], one["h"])
        answers.write(json.dumps(run(made, one["scene"], one["steps"], one["limit"])) + "\n")
        answers.flush()
