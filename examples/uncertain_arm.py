"""How far off is a robot whose masses and dampers are known to a few per cent? Thousands of arms make the same motion.

    python examples/uncertain_arm.py [folder for the picture]

An arm of six joints with the lengths and masses of a UR5, rotors of its motors included, under a control that was made for the nominal arm:
the torques of inverse dynamics along a smooth motion of 1.5 s, springs and dampers towards it (kp, kd), in compiled code. Of each sample
the masses of the links (5 %), an unknown load in the hand (0 to 2 kg) and the damping of the joints (a factor about 1.35) differ. The error
is the distance of the hand from where the nominal motion has it, at every 25 ms.
Check: the nominal arm follows to a fraction of a millimetre; at the end, at rest, every arm stands where its own weight and the springs of
the control balance, which the model tells without a run; deviations are those of a linear estimate from single runs; a sample alone is
equal bit for bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import lognorm, norm, qmc, uniform

import dalembert as dal

H, MOVE = 0.005, 1.5
NAMES = ("base", "shoulder", "elbow", "wrist1", "wrist2", "wrist3")
MASSES = np.array([3.7, 8.393, 2.275, 1.219, 1.219, 0.1879])
HEIGHTS = np.array([0.0, 0.0892, 0.5142, 0.9064, 1.0154, 1.1101, 1.1924])  # of the joints and of the hand, arm upright
AXES = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0))
ROTORS = np.array([2.0, 2.0, 1.0, 0.2, 0.2, 0.2])  # kg m^2, behind the gears
KP, KD = np.array([2000.0, 2000.0, 1000.0, 300.0, 300.0, 100.0]), np.array([200.0, 200.0, 100.0, 20.0, 20.0, 10.0])
DAMPING = np.array([5.0, 5.0, 3.0, 1.0, 1.0, 0.5])
FROM, TO = np.array([0.0, -0.8, 1.4, -0.6, 0.3, 0.0]), np.array([1.2, 0.6, 1.0, 0.5, -0.4, 0.8])
LOAD = 1.0  # kg, nominal


def arm() -> dal.Model:
    """Links are slender cylinders; the load is a ball in the hand."""
    m = dal.Model("arm of six joints")
    for i, (name, mass) in enumerate(zip(NAMES, MASSES, strict=True)):
        length = HEIGHTS[i + 1] - HEIGHTS[i]
        across, along = mass * (3 * 0.05**2 + length**2) / 12, mass * 0.05**2 / 2
        m.add_body(name, mass, (across, across, along), com=(0, 0, length / 2), pose=((0, 0, HEIGHTS[i]), (1, 0, 0, 0)))
        m.add_joint(f"j{i + 1}", "revolute", "world" if i == 0 else NAMES[i - 1], name, (0, 0, HEIGHTS[i]), AXES[i],
                    damping=DAMPING[i], armature=ROTORS[i])  # fmt: skip
    m.add_body("load", LOAD, (0.001, 0.001, 0.001), pose=((0.0, 0.0, HEIGHTS[-1] + 0.05), (1, 0, 0, 0)))
    m.add_joint("grip", "fixed", "wrist3", "load")
    return m


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a of the wanted motion: 10 s^3 - 15 s^4 + 6 s^5 of the way, then rest."""
    s = np.clip(t / MOVE, 0.0, 1.0)[:, None]
    way = TO - FROM
    return (
        FROM + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
        way * (30 * s**2 - 60 * s**3 + 30 * s**4) / MOVE,
        way * (60 * s - 180 * s**2 + 120 * s**3) / MOVE**2,
    )


def control(m: dal.Model, t_end: float) -> Any:
    """Torques of the nominal arm in the middle of each step, and springs and dampers towards the motion at its beginning."""
    steps = round(t_end / H)
    torques = np.array([m.inverse_dynamics(q, v, a) for q, v, a in zip(*motion((np.arange(steps) + 0.5) * H), strict=True)])
    q_at, v_at, _ = motion(np.arange(steps) * H)

    def towards(t, q, v, out):
        k = min(int(t / H + 0.5), steps - 1)
        for i in range(6):
            out[i] = torques[k, i] + KP[i] * (q_at[k, i] - q[i]) + KD[i] * (v_at[k, i] - v[i])

    return dal.compiled(towards)


class Hand(dal.observers.Observer):
    """Distance of the hand from that of the wanted motion: at all nodes, and the last."""

    def __init__(self, m: dal.Model):
        self.m = m

    def __call__(self, batch: Any) -> dict[str, np.ndarray]:
        wanted = self.m.poses(motion(batch.t)[0])[:, -1, :3, 3]
        away = np.linalg.norm(self.m.poses(batch.q)[:, :, -1, :3, 3] - wanted, axis=2)
        return {"away": away, "most": away.max(axis=1), "end": away[:, -1]}


def samples(n: int) -> dal.ensembles.Samples:
    """A Sobol sequence: masses, load, dampings."""
    ranges: dict[str, Any] = {f"{name}.mass": norm(mass, 0.05 * mass) for name, mass in zip(NAMES, MASSES, strict=True)}
    ranges["load.mass"] = uniform(1e-3, 2.0)
    ranges |= {f"j{i + 1}.damping": lognorm(0.3, scale=d) for i, d in enumerate(DAMPING)}
    return dal.design(qmc.Sobol(len(ranges), seed=5), n, ranges)


def main(t_end: float = 3.0, out: Path | None = None) -> None:
    """The arms, their checks, their picture. A shorter time, as tests have it, makes fewer of them."""
    n, m = 4096 if t_end >= 3.0 else 256, arm()
    given: dict[str, Any] = {"stepper": "midpoint", "h": H, "t_end": t_end, "q0": FROM, "control": control(m, t_end), "every": 5}
    study = dal.ensemble(m, samples(n), observe=Hand(m), **given)
    print(study.text)
    most, end = 1e3 * study.observed["most"], 1e3 * study.observed["end"]
    print(f"largest error on the way: median {np.median(most):.1f} mm, 95 of 100 below {np.quantile(most, 0.95):.1f} mm")
    print(f"error at the end: median {np.median(end):.1f} mm, 95 of 100 below {np.quantile(end, 0.95):.1f} mm")
    check(m, study, t_end, lambda values: dal.ensemble(m, values, observe=Hand(m), **given))
    if out is not None:
        draw(out, m, study, t_end)


def check(m: dal.Model, study: dal.Study, t_end: float, run: Callable[[Any], dal.Study]) -> None:
    """The nominal arm, the balance at the end, a linear estimate, a sample alone."""
    assert study.ok.all()
    nominal = run([{}])
    print(f"nominal arm: at most {1e3 * nominal.observed['most'][0]:.3f} mm away")
    assert nominal.observed["most"][0] < 1e-4
    held = m.inverse_dynamics(TO, np.zeros(6), np.zeros(6))
    worst = 0.0
    for i in range(0, len(study), len(study) // 16):
        own = m.with_values(study[i].sample)
        short = own.inverse_dynamics(study.q[i], np.zeros(6), np.zeros(6)) - held - KP * (TO - study.q[i])
        worst = max(worst, float(np.abs(short / KP).max()))
    print(f"joints at the end: within {worst:.1e} rad of where weight and springs balance")
    assert worst < 0.1 * np.exp(-12.0 * (t_end - MOVE)) + 1e-9  # what is left of the motion: the slowest joint loses its error at 12/s
    names = study.samples.names
    spread = {name: float(np.std(study.samples.columns[name])) for name in names}
    base = {name: float(np.mean(study.samples.columns[name])) for name in names}
    beside = run([{**base, name: base[name] + sign * spread[name]} for sign in (1, -1) for name in names]).q
    estimate = np.sqrt(np.sum((0.5 * (beside[: len(names)] - beside[len(names) :])) ** 2, axis=0))
    found = np.std(study.q, axis=0)
    print(
        "deviation of the joints at the end (mrad):", np.round(1e3 * found, 2), "estimated from single runs:", np.round(1e3 * estimate, 2)
    )
    bent = estimate > 0.05 * estimate.max()  # of joints whose axis the weight turns about
    np.testing.assert_allclose(found[bent], estimate[bent], rtol=0.05 if len(study) > 1000 else 0.15)  # 1/sqrt(2 n), and second order
    k = len(study) // 3
    assert (dal.rerun(study, k).q[-1] == study.q[k]).all()


def draw(out: Path, m: dal.Model, study: dal.Study, t_end: float) -> None:
    """Bands of the error over time, and its distribution at the end by the load."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    away, load = 1e3 * study.observed["away"], study.samples.columns["load.mass"]
    t = np.linspace(0.0, t_end, away.shape[1])
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), constrained_layout=True)
    for low, high, shade in ((0.0, 1.0, 0.15), (0.05, 0.95, 0.3), (0.25, 0.75, 0.5)):
        band = np.quantile(away, (low, high), axis=0)
        label = "all" if low == 0.0 else f"{high - low:.0%}"
        left.fill_between(t, *band, color="#1d5288", alpha=shade, lw=0, label=label)
    left.plot(t, np.median(away, axis=0), color="#0b2239", lw=1.8, label="median")
    left.axvline(MOVE, color="#999999", lw=1, ls=":")
    left.set(xlabel="t (s)", ylabel="hand away from the wanted motion (mm)", xlim=(0, t_end), ylim=(0, None), title=f"{len(study)} arms")
    left.legend(loc="upper right")
    right.plot(load, away[:, -1], ".", ms=4, mew=0, color="#1d5288", alpha=0.5)
    right.set(xlabel="load in the hand (kg), 1 kg was expected", ylabel="error at the end (mm)", ylim=(0, None), title="at rest")
    figure.savefig(out / "uncertain_arm.png", dpi=100)
    plt.close(figure)
    print("picture in", out / "uncertain_arm.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
