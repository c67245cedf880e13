"""How many steps of a run are proved to converge, where its step size was meant to be proved."""

from __future__ import annotations

import numpy as np

from dalembert.errors import UnsupportedError
from dalembert.report.items import NOT_APPLICABLE, PASS, Item, item
from dalembert.report.tree_facts import TreeFacts

STEPPER = "trapezoidal"


def judge_certificates(facts: TreeFacts) -> Item | None:
    """`trapezoidal` runs with h="auto" (or the option certify), every step recorded, on models for which the proof is rigorous."""
    traj, meta, model = facts.traj, facts.traj.meta, facts.model
    wanted = meta.get("h_auto") or meta.get("options", {}).get("certify")
    if not wanted or traj.stepper.name != STEPPER or meta["every"] != 1 or len(traj) < 2:
        return None
    if meta.get("compose") or facts.controlled or model.nonholonomic:
        return None
    from dalembert.solvability.certify import certified_steps

    try:
        proved = certified_steps(model, traj.h, traj.q, traj.v_interval)
    except UnsupportedError:
        return None
    proved = proved & (traj.solver["substeps"] == 0.0)
    n, total = int(np.count_nonzero(proved)), len(proved)
    text = f"{n} of {total} steps are proved to converge"
    return item("certified steps", PASS if n == total else NOT_APPLICABLE, n / total, None, text)
