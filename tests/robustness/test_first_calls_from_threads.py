"""A program whose very first calls come from several threads at once: all of them find what is loaded then."""

import subprocess
import sys

SCRIPT = """
import threading
import dalembert as dal

m = dal.Model("pendulum")
m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
errors, ends, together = [], [], threading.Barrier(6)

def first():
    together.wait()
    try:
        ends.append(dal.simulate(m, "midpoint", h=0.01, t_end=0.1, q0=[1.0]).q[-1, 0])
    except Exception as error:
        errors.append(error)

threads = [threading.Thread(target=first) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
assert len(set(ends)) == 1 and len(ends) == 6, ends
"""


def test_first_calls_from_threads():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
