"""GIF files, read back with Pillow."""

import io

import numpy as np
import pytest
from PIL import Image

from dalembert.view.gif import colours_of, gif_bytes


def squares(count):
    """A few colours: a red square that walks over a striped ground, and stands still at the end."""
    images = np.full((count, 40, 50, 3), 255, dtype=np.uint8)
    images[:, ::5] = 30, 90, 160
    for k in range(count):
        x = 2 * min(k, count - 3)
        images[k, 8:20, x : x + 12] = 200, 20, 10
    return images


def read(data):
    with Image.open(io.BytesIO(data)) as gif:
        out = []
        for k in range(gif.n_frames):
            gif.seek(k)
            out.append((np.asarray(gif.convert("RGB")), gif.info["duration"]))
        return [x for x, _ in out], [t for _, t in out]


@pytest.mark.parametrize("bits", [2, 7, 8])
@pytest.mark.parametrize("count", [3, 18])
def test_every_image_is_read_back_as_it_was_drawn(bits, count):
    """Few colours, so none is lost; more images than one batch has; two at the end that are the same."""
    images = squares(count)
    found, durations = read(gif_bytes(lambda k: Image.fromarray(images[k]), count, 50, bits))
    assert len(found) == count and set(durations) == {50}
    assert all(np.array_equal(a, b) for a, b in zip(found, images, strict=True))


def test_what_stays_costs_nothing():
    images = np.random.default_rng(0).integers(0, 256, (1, 64, 64, 3), dtype=np.uint8).repeat(20, axis=0)
    one, many = (len(gif_bytes(lambda k: Image.fromarray(images[k]), count, 50)) for count in (1, 20))
    assert many - one < 19 * 30  # bytes: where and how long, and one pixel


def test_a_thin_line_keeps_its_colour():
    """A red line of 60 pixels on a ground of 250 shades of grey and blue."""
    image = np.zeros((200, 250, 3), dtype=np.uint8)
    image[..., 0] = image[..., 1] = np.arange(250)
    image[..., 2] = 255
    image[99, 30:90] = 220, 30, 20
    colours = colours_of([Image.fromarray(image)], 127)
    assert len(colours) <= 127 and np.abs(colours.astype(int) - [220, 30, 20]).max(axis=1).min() < 8
