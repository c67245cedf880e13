"""CPU seconds until the first result with an empty cache, and until the next process has one.

python benchmarks/cold_start.py             every case in a process of its own, one after the other, three rounds, medians; wants an idle
                                            machine (about 4 minutes)
"""

import os
import statistics
import subprocess
import sys
import tempfile

RODS = """
m = dal.Model()
m.add_body("a", 1, (.1, .1, .01), com=(0, 0, -.5))
m.add_body("b", 1, (.1, .1, .01), com=(0, 0, -.5), pose=((0, 0, -1), (1, 0, 0, 0)))
m.add_joint("j", "revolute", "world", "a", axis=(0, 1, 0))
m.add_joint("k", "revolute", "a", "b", anchor=(0, 0, -1), axis=(0, 1, 0))
dal.simulate(m, "STEPPER", h=.001, t_end=.01, q0=[1., .5])
"""
BODY = """
m = dal.Model(gravity=(0, 0, 0))
m.add_body("a", 1, (1, 2, 2.5))
dal.simulate(m, "cayley", h=.01, t_end=.1, v0=[.1, 1, .1, 0, 0, 0])
"""
LCP = """
A = np.random.default_rng(0).normal(size=(10, 10))
dal.lcp(A @ A.T + np.eye(10), A[0])
"""
FORMULA = """
s = dal.Lagrangian(1, lambda q, v: .5 * v[0] ** 2 + np.cos(q[0]))
dal.simulate(s, h=.01, t_end=.1, q0=[1.])
"""
BOX = """
m = dal.Model()
m.add_shape("world", dal.Plane())
m.add_body("a", 1, (.01, .01, .01), pose=((0, 0, .15), (1, 0, 0, 0)), shapes=[dal.Box((.2, .2, .2))])
dal.simulate(m, h=.01, t_end=.1)
"""
#: name, code, target in CPU seconds
CASES = (
    ("midpoint", RODS.replace("STEPPER", "midpoint"), 30.0),
    ("trapezoidal", RODS.replace("STEPPER", "trapezoidal"), None),
    ("mk4", RODS.replace("STEPPER", "mk4"), 12.0),
    ("lcp", LCP, 12.0),
    ("Lagrangian", FORMULA, 8.0),
    ("cayley", BODY, 5.0),
    ("spook", BOX, None),
)
ROUNDS = 3
AROUND = "import time\nimport numpy as np\nimport dalembert as dal\n{}\nprint(time.process_time())"


def seconds(code: str, cache: str) -> float:
    """CPU time of a new process."""
    env = {**os.environ, "DALEMBERT_CACHE_DIR": cache, "DALEMBERT_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", AROUND.format(code)], env=env, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def once(code: str) -> tuple[float, float]:
    """CPU seconds with an empty cache, then with what the first process left."""
    with tempfile.TemporaryDirectory() as cache:
        return seconds(code, cache), seconds(code, cache)


def main() -> int:
    """Print the table; 1 where a target is missed."""
    rounds = [[once(code) for _, code, _ in CASES] for _ in range(ROUNDS)]
    missed = 0
    print(f"{'':12} {'empty cache':>12} {'next process':>12} {'target':>8}")
    for i, (name, _, target) in enumerate(CASES):
        cold, warm = (statistics.median(one[i][k] for one in rounds) for k in (0, 1))
        missed += target is not None and cold > target
        print(f"{name:12} {cold:10.1f} s {warm:10.1f} s {'' if target is None else f'{target:.0f} s':>8}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
