"""The graph of bodies and constraints: a spanning forest by breadth, and the table by which its matrix is eliminated from the leaves.

Nodes are bodies k = 0 ... n - 1 and constraints n + i. A constraint may touch any number of bodies; one that touches a single body
holds it to the world. Each tree is rooted at such a constraint where there is one, else at a body.
"""

from dalembert.kernels._jit import inline, kernel

# columns of the table: one line per body, and per constraint that is not a leaf, children before parents
KIND, SIZE, SOURCE, AT_D, AT_Y, EDGE, PARENT_D, PARENT_SIZE, AT_Z, PARENT_Z, RHS, LEAF, LEAVES, LEAF_ROWS, CHILDREN, OLD = range(16)
COLUMNS = 16
BODY, CONSTRAINT = 0, 1
# columns of the list of leaves: block in the Jacobian's numbers, rows, block of the compliance, first row
LEAF_EDGE, LEAF_SIZE, LEAF_SOURCE, LEAF_RHS = range(4)
# states of a constraint
UNSEEN, TREE, LOOP = 0, 1, 2


@inline
def _grow(n, i, came, count, first, bodies, queue, parent, state):
    """Put constraint i, reached through block `came` (-1: a root), and its other bodies into the forest, or call it a loop."""
    for t in range(first[i], first[i + 1]):
        if t != came and parent[bodies[t]] != -2:
            state[i] = LOOP
            return count
    state[i] = TREE
    parent[n + i] = came
    queue[count] = n + i
    count += 1
    for t in range(first[i], first[i + 1]):
        if t != came:
            parent[bodies[t]] = t
            queue[count] = bodies[t]
            count += 1
    return count


@kernel
def span(n, first, bodies, body_first, body_blocks, owner, one_anchor, queue, parent, state):
    """Spanning forest. Returns the number of nodes in `queue`, parents before children.

    parent[node]: block that leads to the parent, -1 for a root; state[i]: TREE or LOOP. With one_anchor the world counts as a body:
    of the constraints that hold one tree to the world only one stays in the forest.
    """
    m = first.shape[0] - 1
    for k in range(n + m):
        parent[k] = -2
    for i in range(m):
        state[i] = UNSEEN
    count, head = 0, 0
    for root in range(m + n):
        if root < m:
            if first[root + 1] - first[root] != 1 or state[root] != UNSEEN:
                continue
            if parent[bodies[first[root]]] == -2:
                count = _grow(n, root, -1, count, first, bodies, queue, parent, state)
        elif parent[root - m] == -2:
            parent[root - m] = -1
            queue[count] = root - m
            count += 1
        while head < count:
            k = queue[head]
            head += 1
            if k >= n:
                continue
            for u in range(body_first[k], body_first[k + 1]):
                t = body_blocks[u]
                i = owner[t]
                if state[i] != UNSEEN:
                    continue
                if one_anchor and first[i + 1] - first[i] == 1:
                    state[i] = LOOP
                else:
                    count = _grow(n, i, t, count, first, bodies, queue, parent, state)
    return count
