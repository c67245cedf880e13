"""How large may the step of a spinning body be? Fifty thousand bodies, each with its own inertia, axis and speed, make one step.

    python examples/solvable_steps.py [folder for the picture]

After figure 2 of Kobilarov, Solvability of geometric integrators for multi-body systems (2014). J = diag(1, J2, kappa), J2 between 1 and
kappa, a spin in a random direction, x = h |omega|. The equation of a step of `tln` has the Jacobian J + h/2 (hat(w) J - hat(J w)), regular
for every inertia and direction below

    x < 4/(kappa - 1)  (19)         x < 4 sqrt(kappa)/(kappa - 1)  (sharp, attained)

that of `cayley` is singular in no draw. The figure shows which steps could be solved.
Check: the first singular x of every draw is above the sharp limit, and some nearly at it; no step below it fails; `cayley` has no singular
draw and no step that fails; shares of singular draws are those of an earlier count; draws are equal to runs alone, bit for bit.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dalembert as dal
from dalembert.solvability import body_jacobian as jacobian

DRAWS, LARGEST_KAPPA, LARGEST_X = 50_000, 100.0, 10.0
#: kappa: share of draws that are singular below x = 10, of 5,000 draws each
COUNTED = {2.0: 0.11, 3.0: 0.20, 5.0: 0.25, 10.0: 0.31, 20.0: 0.35, 50.0: 0.37}


def draws(n: int, rng: np.random.Generator, kappa: np.ndarray | float | None = None) -> tuple[np.ndarray, ...]:
    """kappa (n,), J (n, 3), unit spins (n, 3), x = h |omega| (n,)."""
    kappa = 1.1 * (LARGEST_KAPPA / 1.1) ** rng.random(n) if kappa is None else np.broadcast_to(kappa, n)
    J = np.stack([np.ones(n), 1.0 + (kappa - 1.0) * rng.random(n), kappa], axis=1)
    spin = rng.normal(size=(n, 3))
    return kappa, J, spin / np.linalg.norm(spin, axis=1, keepdims=True), 0.03 * (LARGEST_X / 0.03) ** rng.random(n)


def steps(J: np.ndarray, spin: np.ndarray, x: np.ndarray, stepper: str) -> dal.Study:
    """One step of h = 1 s of every body: inertia and spin are numbers of the samples."""
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("body", 1.0, (1.0, 2.0, 2.5), physical=False)  # J3 may be above J1 + J2
    v0 = np.concatenate([x[:, None] * spin, np.zeros_like(spin)], axis=1)
    return dal.ensemble(m, {"body.inertia": J, "v0": v0}, stepper, h=1.0, t_end=1.0, max_iterations=50)


def main(t_end: float = 1.0, out: Path | None = None) -> None:
    """All draws, their checks, their picture. A smaller t_end, as tests have it, makes fewer."""
    n, rng = int(DRAWS * min(1.0, t_end)), np.random.default_rng(2014)
    kappa, J, spin, x = draws(n, rng)
    sharp = 4.0 * np.sqrt(kappa) / (kappa - 1.0)
    singular = {
        "tln": jacobian.smallest_positive_root(jacobian.determinant_tln(J, spin)),
        "cayley": jacobian.smallest_positive_root(jacobian.determinant_cayley(J, spin)),
    }
    studies = {name: steps(J, spin, x, name) for name in ("tln", "cayley")}
    for study in studies.values():
        print(study.text.splitlines()[0])
    closest = float((singular["tln"] / sharp).min())
    print(f"first singular x over the sharp limit: at least {closest:.4f}; cayley: {np.isfinite(singular['cayley']).sum()} singular draws")
    failed = ~studies["tln"].ok
    print(f"steps of tln that failed: {failed.mean():.3%}, from {float((x / sharp)[failed].min()):.3f} of the limit on")
    check(studies, singular, sharp, x, closest)
    shares(rng, max(500, n // 10))
    if out is not None:
        draw(out, kappa, x, studies, singular)


def check(studies: dict[str, dal.Study], singular: dict[str, np.ndarray], sharp: np.ndarray, x: np.ndarray, closest: float) -> None:
    """Limits hold; what is proved to be sharp is nearly attained; a draw is its run alone."""
    failed = ~studies["tln"].ok
    assert 1.0 - 1e-9 <= closest < 1.1
    assert failed.any() and (x[failed] > sharp[failed]).all()
    assert studies["cayley"].ok.all() and np.isinf(singular["cayley"]).all()
    for study in studies.values():
        k = len(study) // 3
        assert (dal.rerun(study, k).q[-1] == study.q[k]).all()


def shares(rng: np.random.Generator, n: int) -> None:
    """How many draws of one kappa are singular below x = 10: within four standard deviations of what was counted before, by others."""
    for kappa, before in COUNTED.items():
        _, J, spin, _ = draws(n, rng, kappa)
        share = float((jacobian.smallest_positive_root(jacobian.determinant_tln(J, spin)) < LARGEST_X).mean())
        spread = 4.0 * np.sqrt(before * (1.0 - before) * (1.0 / n + 1.0 / 5000)) + 0.005  # and the digits of the table
        print(f"kappa = {kappa:g}: {share:.1%} of the draws are singular below x = 10; counted before: {before:.0%}")
        assert abs(share - before) < spread


def draw(out: Path, kappa: np.ndarray, x: np.ndarray, studies: dict[str, dal.Study], singular: dict[str, np.ndarray]) -> None:
    """Every draw a point: solved, solved beyond a singular Jacobian, not solved; and the limits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    k = np.geomspace(1.1, LARGEST_KAPPA, 300)
    limits = {
        "tln": {"(19): 4/(kappa - 1)": [jacobian.x_tln_19(a) for a in k], "sharp: regular below": [jacobian.x_tln_sharp(a) for a in k]},
        "cayley": {"(20)": [jacobian.x_cayley_20(a) for a in k], "positive definite below": [jacobian.x_cayley_definite(a) for a in k]},
    }
    figure, panels = plt.subplots(1, 2, figsize=(11, 5), sharey=True, constrained_layout=True)
    for axes, (name, study) in zip(panels, studies.items(), strict=True):
        beyond = study.ok & (singular[name] < x)
        for chosen, colour, size, label in (
            (study.ok & ~beyond, "#b9c6d3", 3, "solved"),  # of these a fifth is drawn
            (beyond, "#e2a33d", 4, "solved, beyond a singular Jacobian"),
            (~study.ok, "#b3261e", 9, "not solved"),
        ):
            shown = np.flatnonzero(chosen)[:: 5 if label == "solved" else 1]
            axes.scatter(kappa[shown], x[shown], s=size, c=colour, lw=0, label=f"{label}: {int(chosen.sum())}")
        for (label, limit), style in zip(limits[name].items(), ("--", "-"), strict=True):
            axes.plot(k, limit, style, color="#1d3557", lw=1.8, label=label)
        axes.set(xscale="log", yscale="log", xlim=(1.1, LARGEST_KAPPA), ylim=(0.03, LARGEST_X), xlabel="kappa = J3/J1", title=name)
        axes.legend(loc="lower left", framealpha=0.95, fontsize=9)
    panels[0].set_ylabel("x = h |omega| (rad)")
    figure.savefig(out / "solvable_steps.png", dpi=100)
    plt.close(figure)
    print("picture in", out / "solvable_steps.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
