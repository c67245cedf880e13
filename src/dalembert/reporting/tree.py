"""Energy and momentum of a tree, measured: its methods so far promise neither."""

from __future__ import annotations

from dalembert.model.parts import WORLD
from dalembert.reporting.energy import judge_unpromised
from dalembert.reporting.facts import Facts, ratio, size
from dalembert.reporting.items import NOT_APPLICABLE, Item, item

POTENTIAL = {"tree", "gravity", "spring", "stiffness", "armature"}


def judge_tree(facts: Facts) -> list[Item]:
    """Momentum of a tree that floats freely, energy of a tree on which only potential forces act."""
    others = facts.features - POTENTIAL - set(facts.traj.meta.get("ignore", ()))
    if facts.controlled:
        others = others | {"control"}
    if any(getattr(f, "damping", 0.0) > 0.0 for f in facts.traj.model.forces):
        others = others | {"damping"}
    if others:
        why = ", ".join(sorted(others))
        return [item("energy", NOT_APPLICABLE, None, None, f"energy and momentum are not judged ({why})")]
    return [*momentum(facts), judge_unpromised(facts)]


def momentum(facts: Facts) -> list[Item]:
    """All six components where no force comes from outside."""
    model, traj = facts.traj.model, facts.traj
    held = any(j.parent == WORLD and j.kind != "free" for j in model.joints) or any(WORLD in _ends(f) for f in model.forces)
    if facts.gravity or held:
        return []
    angular, linear = traj.momentum[:, :3], traj.momentum[:, 3:]
    reach = size(traj.poses[..., :3, 3].reshape(-1, 3))
    error = max(
        ratio(size(angular - angular[0]), size(angular) + reach * size(linear)),
        ratio(size(linear - linear[0]), size(linear)) if size(linear) > 1e-12 * size(angular) else 0.0,
    )
    return [item("momentum", NOT_APPLICABLE, error, None, f"momentum (p, L) conserved to {error:.2g} (not promised)")]


def _ends(force: object) -> tuple[str, ...]:
    return tuple(str(getattr(force, name)) for name in ("body_a", "body_b") if hasattr(force, name))
