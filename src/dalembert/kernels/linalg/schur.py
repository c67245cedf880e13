"""S <- alpha K G^T by blocks (lacoursiere2007, Alg. 18.2.2), and T <- alpha K^T G (Alg. 18.2.3).

For each block t = (i, k) of K and each block u = (j, k) of G on the same body: S_ij += alpha K_t G_u^T. Each pair is one block product.
Print applies beta to S_ik at every visit and looks up K in the wrong list; here S is cleared or scaled by the caller.
"""

from dalembert.kernels._jit import kernel


@kernel
def add_products(body_first, body_blocks, owner, lines, rows, K, G, alpha, half, slots, places, S):
    """Add alpha K G^T into the blocks of S; returns the number of block products.

    half: only j <= i. slots: for each pair in the order of the loops the block of S, which begins at S[places[slot]].
    """
    count = 0
    for k in range(body_first.shape[0] - 1):
        for p in range(body_first[k], body_first[k + 1]):
            t = body_blocks[p]
            i = owner[t]
            r, end = rows[i + 1] - rows[i], p + 1 if half else body_first[k + 1]
            for q in range(body_first[k], end):
                u = body_blocks[q]
                j = owner[u]
                n, at = rows[j + 1] - rows[j], places[slots[count]]
                for a in range(r):
                    for b in range(n):
                        x, y = 6 * (lines[t] + a), 6 * (lines[u] + b)
                        s = 0.0
                        for c in range(6):
                            s += K[x + c] * G[y + c]
                        S[at + a * n + b] += alpha * s
                count += 1
    return count


@kernel
def add_transposed_products(first, lines, rows, K, G, alpha, slots, T):
    """Add alpha K^T G into the 6 x 6 blocks of T: pairs of blocks of the same constraint. Returns the number of block products."""
    count = 0
    for i in range(first.shape[0] - 1):
        r = rows[i + 1] - rows[i]
        for t in range(first[i], first[i + 1]):
            for u in range(first[i], first[i + 1]):
                at = 36 * slots[count]
                for a in range(6):
                    for b in range(6):
                        s = 0.0
                        for c in range(r):
                            s += K[6 * (lines[t] + c) + a] * G[6 * (lines[u] + c) + b]
                        T[at + 6 * a + b] += alpha * s
                count += 1
    return count
