"""Which bodies are calm, and which islands of them may sleep: see contact/sleep.py.

calm       |v| + radius |omega| < speed, and no force but the weight; for how long is counted
island     bodies that contacts of the detection join, with impulse or not: what is so near would wake it again
may sleep  every body has been calm long enough and a contact with impulse holds it, and the world holds one of them
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.motion import ASLEEP, OMEGA, V
from dalembert.kernels.contact.islands import islands

#: what `calm` is of a body that sleeps
SLEEPS = -1.0


@inline
def _loaded(push, weight, k):
    """Whether something beside the weight acts on body k."""
    for i in range(6 * k, 6 * k + 6):
        if push[i] != weight[i]:
            return True
    return False


@kernel
def rest(h, speed, long, size, states, push, weight, bound, mode, calm):
    """Count how long bodies have been calm (n,), s; bound (n,): 1 of those that never are. Returns how many of them for `long` or more."""
    count = 0
    for k in range(calm.shape[0]):
        if mode[k] == ASLEEP:
            continue
        turn, way = 0.0, 0.0
        for i in range(3):
            turn += states[k, OMEGA + i] * states[k, OMEGA + i]
            way += states[k, V + i] * states[k, V + i]
        quiet = math.sqrt(way) + size[k] * math.sqrt(turn) < speed and bound[k] == 0 and not _loaded(push, weight, k)
        calm[k] = calm[k] + abs(h) if quiet else 0.0
        if calm[k] >= long:
            count += 1
    return count


@kernel
def tired(long, calm, mode, count, pair, chosen, n, lam, at, joined, label, room, out):
    """out (n,): 1 for bodies of islands that may sleep; returns how many. pair (count, 2): bodies of all contacts; the first n chosen have
    rows, their impulses lam from `at` on. joined (count, 2), label (bodies,), room (3, bodies): to work in."""
    for k in range(count):
        for i in range(2):
            b = pair[k, i]
            joined[k, i] = -1 if b < 0 or mode[b] == ASLEEP else b
    held, grounded, awake = room[0], room[1], room[2]
    islands(joined, label)
    for k in range(label.shape[0]):
        held[k], grounded[k], awake[k], out[k] = 0, 0, 0, 0
    for j in range(n):
        a, b = pair[chosen[j], 0], pair[chosen[j], 1]
        if lam[at + 3 * j] > 0.0:
            if a >= 0:
                held[a] = 1
            if b >= 0:
                held[b] = 1
            if a < 0 and b >= 0:
                grounded[label[b]] = 1
    for k in range(label.shape[0]):
        if calm[k] < long or held[k] == 0:
            awake[label[k]] = 1
    found = 0
    for k in range(label.shape[0]):
        if mode[k] != ASLEEP and awake[label[k]] == 0 and grounded[label[k]] == 1:
            out[k] = 1
            found += 1
    return found


@kernel
def loaded(push, weight, mode, out):
    """out (n,): 1 for bodies that sleep and on which something beside the weight acts. Returns how many."""
    count = 0
    for k in range(mode.shape[0]):
        out[k] = 1 if mode[k] == ASLEEP and _loaded(push, weight, k) else 0
        count += out[k]
    return count


@kernel
def touched(chosen, n, pair, mode, out):
    """out (n,): 1 for bodies that sleep and that one of the first n chosen contacts joins to one that does not. Returns how many."""
    count = 0
    for k in range(mode.shape[0]):
        out[k] = 0
    for j in range(n):
        a, b = pair[chosen[j], 0], pair[chosen[j], 1]
        if a >= 0 and b >= 0 and (mode[a] == ASLEEP) != (mode[b] == ASLEEP):
            sleeper = a if mode[a] == ASLEEP else b
            count += 1 - out[sleeper]
            out[sleeper] = 1
    return count
