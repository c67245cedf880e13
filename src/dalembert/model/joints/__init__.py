"""Joint kinds: one file each, found by their name."""

from dalembert.model.joints._base import JointKind
from dalembert.model.joints.free import Free
from dalembert.model.joints.spherical import Spherical

KINDS: dict[str, JointKind] = {kind.name: kind for kind in (Free(), Spherical())}

__all__ = ["KINDS", "JointKind"]
