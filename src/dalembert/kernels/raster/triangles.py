"""Flat triangles painted into an image, the nearer before the farther (z-buffer).

A pixel (j, i) lies in the triangle a, b, c if its weights u, w of b and c satisfy u >= 0, w >= 0, u + w <= 1, where

    (j, i) = a + u (b - a) + w (c - a);       its depth is  z = z_a + u (z_b - z_a) + w (z_c - z_a).

A row of pixels meets each of the three conditions in an interval: the span is where these overlap. Larger z is nearer to the eye.
"""

from dalembert.kernels._jit import inline, kernel


@inline
def _narrow(value, slope, low, high):
    """The part of [low, high] where value + slope j >= 0."""
    if slope > 0.0:
        return max(low, -value / slope), high
    if slope < 0.0:
        return low, min(high, -value / slope)
    return (low, high) if value >= 0.0 else (1.0, 0.0)


@kernel
def paint(triangles, colours, hidden, depth, image):
    """triangles (n, 3, 3): x, y in pixels, z; colours (n, 4): red, green, blue from 0 to 255, and how much of them shows, from 0 to 1.

    depth (height, width) and image (height, width, 3) are changed. hidden: by how much less a colour shows where something nearer was
    painted before. Only what shows fully hides what comes later.
    """
    height, width = depth.shape
    for k in range(len(triangles)):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
        area = bx * cy - cx * by
        low, high = min(a[1], min(b[1], c[1])), max(a[1], max(b[1], c[1]))
        if not (abs(area) > 1e-12 and high >= 0.0 and low <= height - 1.0):
            continue
        first, last = int(max(low, -1.0) + 1.0), int(min(high, height - 1.0))
        if low <= 0.0:
            first = 0
        du, dw = cy / area, -by / area  # of u and w along a row
        dz = du * (b[2] - a[2]) + dw * (c[2] - a[2])
        red, green, blue, most = int(colours[k, 0]), int(colours[k, 1]), int(colours[k, 2]), colours[k, 3]
        for i in range(first, last + 1):
            u = (-cx * (i - a[1]) - cy * a[0]) / area  # at j = 0
            w = (bx * (i - a[1]) + by * a[0]) / area
            left, right = _narrow(u, du, 0.0, width - 1.0)
            left, right = _narrow(w, dw, left, right)
            left, right = _narrow(1.0 - u - w, -du - dw, left, right)
            if not left <= right:
                continue
            begin = int(left)
            if begin < left:
                begin += 1
            z = a[2] + u * (b[2] - a[2]) + w * (c[2] - a[2])
            for j in range(begin, int(right) + 1):
                here, shows = z + dz * j, most
                if here < depth[i, j]:
                    shows *= hidden
                elif shows == 1.0:
                    depth[i, j] = here
                    image[i, j, 0], image[i, j, 1], image[i, j, 2] = red, green, blue
                    continue
                if shows > 0.0:
                    for n in range(3):
                        image[i, j, n] = int(image[i, j, n] + shows * (colours[k, n] - image[i, j, n]) + 0.5)
