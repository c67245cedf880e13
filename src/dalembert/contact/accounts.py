"""Columns of the account of a machine of bodies, joints and contacts: work in J, added up from the start.

Their sum is the change of kinetic and potential energy, to round-off. What springs do is in the energy already: `stiffness` (of joints) and
`forces` (springs among them) hold the work beside what is stored, which vanishes with h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

COLUMNS = (
    "joints", "limits", "joint_friction", "damping", "motors", "drive", "stiffness", "contact", "friction", "impact", "forces", "numerical",
)  # fmt: skip
JOINTS, LIMITS, JOINT_FRICTION, DAMPING, MOTORS, DRIVE, STIFFNESS, CONTACT, FRICTION, IMPACT, FORCES, NUMERICAL = range(len(COLUMNS))
#: the first word of what a row of a joint is called
WORDS = {"armature": NUMERICAL, "stiffness": STIFFNESS, "damping": DAMPING, "friction": JOINT_FRICTION, "motor": MOTORS, "drive": DRIVE}


def columns_of(bodies: Any) -> np.ndarray:
    """The column of every row of the joints."""

    def column(label: str) -> int:
        return LIMITS if label.endswith(" limit") else WORDS.get(label.split(" ")[0], JOINTS)

    return np.array([column(label) for _, label in bodies.rows], dtype=np.int64)
