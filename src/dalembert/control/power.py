"""The cost "energy": what inputs do and undo, sum of h |u_i w_i|, with the rates w = B^T v that they act on.

|x| has a corner at 0, where the power of most plans spends much of its time. So each step has a variable e_i for each input,

    minimise  h e_i    subject to  -e_i <= u_i w_i <= e_i,

which is |u_i w_i| at the optimum. v is the velocity of the step, of a composition the mean of those of its stages.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Block
from dalembert.errors import OptionError

ABOVE = 1e-2  # of the largest power: how far a guess is inside


def power_blocks(made: Any, wanted: list[tuple[float, Any]]) -> list[Block]:
    """The block of a cost (weight, term), ...; none where no term is "energy"."""
    weights = [weight for weight, term in wanted if isinstance(term, str) and term == "energy"]
    if not weights or not made.machine.nu:
        return []
    if min(weights) < 0.0:
        raise OptionError(f"cost: the weight of 'energy' is {min(weights):g}; expected one that is not negative.")
    machine, chain = made.machine, made.chain
    N, nv, nu, shares = chain.N, machine.nv, machine.nu, chain.weights
    e_at = made.take(N * nu, [f"power of {name} of step {k}" for k in range(N) for name in machine.u_names], 0.0, force=True).reshape(N, nu)
    v, u, e, h = (ca.SX.sym(name, n) for name, n in (("v", nv * len(shares)), ("u", nu), ("e", nu), ("h", 1)))
    rate = ca.DM(machine.B).T @ (ca.reshape(v, nv, len(shares)) @ ca.DM(list(shares)))
    x, index = [v, u, e], [chain.v.reshape(N, -1), chain.u, e_at]
    if chain.free:
        x, index = [*x, h], [*index, chain.h[chain.phase_of][:, None]]
    made.guesses.append(_guess(made, e_at))
    return [
        Block(
            "power", ca.vertcat(*x), np.concatenate(index, axis=1), cost=sum(weights) * h * ca.sum1(e),
            rows=ca.vertcat(e - u * rate, e + u * rate), lower=0.0, upper=np.inf, p=None if chain.free else h,
            numbers=None if chain.free else made.numbers.places["h"][chain.phase_of][:, None],
            names=[f"power of {name} {way}" for way in ("forwards", "backwards") for name in machine.u_names],
            places=[f"step {k}" for k in range(N)],
        )
    ]  # fmt: skip


def _guess(made: Any, e_at: Array) -> Any:
    machine, chain = made.machine, made.chain

    def write(problem: Any, z: Array) -> None:
        v = z[chain.v].reshape(chain.N, len(chain.weights), machine.nv)
        power = np.abs(z[chain.u] * (np.einsum("kin,i->kn", v, np.asarray(chain.weights)) @ machine.B))
        z[e_at] = power + ABOVE * max(1.0, float(power.max(initial=0.0)))

    return write
