"""Bitwise hashes of short runs of all scenes: `python -m tests.robustness.hashes` prints them."""

import hashlib
import json
import sys
import warnings

import dalembert as dal

STEPS = 12


def digest(name):
    """Of the states of a short run; of a failure its sentence."""
    scene = dal.scenes.find(name).reduced()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = scene.simulate(t_end=STEPS * scene.h, on_fail="return", progress=False)
    sums = hashlib.sha256(run.status.encode())
    for array in (run.t, run.states, run.q, run.v):
        sums.update(array.tobytes())
    return sums.hexdigest()[:16]


def main():
    names = sys.argv[1:] or dal.scenes.names()
    json.dump({name: digest(name) for name in names}, sys.stdout)


if __name__ == "__main__":
    main()
