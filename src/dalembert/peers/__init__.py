"""Other programs that run the same body, so that methods can be compared on one model: "mujoco:rk4", "scipy:dop853", ...

A peer is one file that defines `PEERS`: name -> Peer. Nothing is imported from the other program before a peer of it is run.
"""

from __future__ import annotations

from dalembert.errors import UnknownNameError
from dalembert.peers import mujoco, scipy
from dalembert.peers._base import Outcome, Peer

PEERS: dict[str, Peer] = {**mujoco.PEERS, **scipy.PEERS}


def is_peer(name: str) -> bool:
    """True for names of the form program:method."""
    return ":" in name


def find_peer(name: str) -> Peer:
    """The peer of that name."""
    if name not in PEERS:
        raise UnknownNameError("peer", name, PEERS)
    return PEERS[name]


__all__ = ["PEERS", "Outcome", "Peer", "find_peer", "is_peer"]
