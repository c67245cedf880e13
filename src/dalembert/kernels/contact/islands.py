"""Islands: bodies that constraints join, by union and find with path halving. The world joins nothing."""

from dalembert.kernels._jit import inline, kernel


@inline
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def islands(bodies, label):
    """label[i]: the island of body i, numbered by first body; one without constraints is an island of its own. Returns their number."""
    n, count = label.shape[0], 0
    for i in range(n):
        label[i] = i
    for c in range(bodies.shape[0]):
        if bodies[c, 0] >= 0 and bodies[c, 1] >= 0:
            a, b = _root(label, bodies[c, 0]), _root(label, bodies[c, 1])
            if a < b:
                label[b] = a
            else:
                label[a] = b
    for i in range(n):
        label[i] = _root(label, i)
    # roots are the smallest bodies of their islands: they come first
    for i in range(n):
        if label[i] == i:
            label[i] = -1 - count
            count += 1
        else:
            label[i] = label[label[i]]
    for i in range(n):
        label[i] = -1 - label[i]
    return count
