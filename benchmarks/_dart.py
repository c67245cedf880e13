"""DART on the chain, in a process of its own: dartpy is not always installable beside the other engines.

    client:  Dart(python).open(n, h, q, v) -> accelerations at the start;  .run(steps, repeats) -> CPU seconds
    server:  python _dart.py, one JSON request per line, one JSON answer per line

DART steps by semi-implicit Euler on the articulated-body algorithm, called from Python step by step.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any


class Dart:
    """The client. Raises RuntimeError with the reason where dartpy cannot be imported."""

    def __init__(self, python: str):
        self.process = subprocess.Popen(
            [python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.version = self._read()["version"]

    def _read(self) -> dict[str, Any]:
        line = self.process.stdout.readline() if self.process.stdout else ""
        answer = json.loads(line) if line else {"error": "the process ended without an answer"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read()

    def open(self, n: int, h: float, q: Any, v: Any) -> list[float]:
        """Build the chain of n."""
        return self._ask(n=n, h=h, q=list(q), v=list(v))["accelerations"]

    def run(self, steps: int, repeats: int) -> float:
        """CPU seconds of `repeats` runs from the start; RuntimeError if one ends in numbers that are not finite."""
        return self._ask(steps=steps, repeats=repeats)["seconds"]

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(10)


def build(dart: Any, n: int, h: float) -> tuple[Any, Any]:
    """World and skeleton."""
    import numpy as np

    skeleton, parent = dart.dynamics.Skeleton(), None
    for i in range(n):
        joint, parent = skeleton.createRevoluteJointAndBodyNodePair(*([parent] if parent is not None else []))
        joint.setAxis([0, 1, 0] if i % 2 == 0 else [0, 0, 1])
        place = dart.math.Isometry3()
        place.set_translation([0.5 if i else 0.0, 0, 0])
        joint.setTransformFromParentBodyNode(place)
        parent.setInertia(dart.dynamics.Inertia(1.0, np.array([0.25, 0, 0]), np.diag([0.002, 0.02, 0.02])))
    world = dart.simulation.World()
    world.setGravity([0, 0, -9.81])
    world.setTimeStep(h)
    world.addSkeleton(skeleton)
    return world, skeleton


def serve() -> None:
    """Answer requests until the input ends."""
    try:
        import dartpy as dart
    except ImportError as problem:
        print(json.dumps({"error": str(problem)}), flush=True)
        return
    print(json.dumps({"version": dart.__version__}), flush=True)
    world = skeleton = q = v = None
    for line in sys.stdin:
        request = json.loads(line)
        if "n" in request:
            q, v = request["q"], request["v"]
            world, skeleton = build(dart, request["n"], request["h"])
            skeleton.setPositions(q)
            skeleton.setVelocities(v)
            skeleton.computeForwardDynamics()
            print(json.dumps({"accelerations": list(skeleton.getAccelerations())}), flush=True)
            continue
        began = time.process_time()
        for _ in range(request["repeats"]):
            skeleton.setPositions(q)
            skeleton.setVelocities(v)
            for _ in range(request["steps"]):
                world.step(True)
        seconds = time.process_time() - began
        sane = all(abs(x) < 1e9 for x in skeleton.getVelocities())
        print(json.dumps({"seconds": seconds} if sane else {"error": "DART's chain diverged"}), flush=True)


if __name__ == "__main__":
    serve()
