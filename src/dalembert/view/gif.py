"""GIF files: one table of colours for all images, and of each image only what differs from the one before.

    header      size, 2^bits colours (the last one stands for transparent), repeat for ever
    image       the smallest box around the pixels that changed; those in it that kept their colour are transparent
    its data    packed by Pillow's encoder (Lempel, Ziv and Welch)

Images are drawn a few at a time: a long animation needs no more memory than a short one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import pack

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops

Bytes = NDArray[np.uint8]
SAMPLE, THINNED = 6, 3  # the colours are taken from so many images, of these from every third pixel each way
NEARLY_WHITE = 247  # Pillow looks colours up to 4 levels
BATCH = 16  # images drawn before they are packed
NONE = 255  # the colour of no pixel
_FOREVER = b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


def gif_bytes(draw: Callable[[int], Image.Image], count: int, duration: int, bits: int = 7) -> bytes:
    """The file. draw(k): image k, red, green and blue; count of images; duration of each, ms; bits of a colour, 2 to 8."""
    sample = {int(k): draw(int(k)) for k in np.unique(np.linspace(0, count - 1, SAMPLE).astype(int))}
    colours = colours_of(list(sample.values()), 2**bits - 1)
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours.tobytes())
    width, height = size = sample[0].size
    out = [b"GIF89a", pack("<HHBBB", width, height, 0xF0 | bits - 1, 0, 0), colours.tobytes().ljust(3 * 2**bits, b"\0"), _FOREVER]
    shown, before = np.full((height, width), NONE, dtype=np.uint8), None
    for image in _in_batches(lambda k: sample[k] if k in sample else draw(k), count):
        box = (ImageChops.difference(image, before).getbbox() or (0, 0, 1, 1)) if before else (0, 0, *size)
        part = np.asarray(image.crop(box).quantize(palette=palette, dither=Image.Dither.NONE))
        out.append(_block(part, shown[box[1] : box[3], box[0] : box[2]], box, duration, bits))
        before = image
    return b"".join([*out, b";"])


def _in_batches(draw: Callable[[int], Image.Image], count: int) -> Iterator[Image.Image]:
    """All images in turn, some at a time, so that what draws them finds its memory in the cache more often."""
    for first in range(0, count, BATCH):
        yield from [draw(k) for k in range(first, min(first + BATCH, count))]


def _block(part: Bytes, shown: Bytes, box: tuple[int, int, int, int], duration: int, bits: int) -> bytes:
    """One image: how and how long it is shown, where, and its data. part, shown: colours in the box now and before; shown is changed."""
    transparent = 2**bits - 1
    data = np.maximum(part, (part == shown) * np.uint8(transparent))
    shown[:] = part
    head = pack("<BBBBHBB", 0x21, 0xF9, 4, 0b101, duration // 10, transparent, 0)
    place = pack("<BHHHHBB", 0x2C, *box[:2], box[2] - box[0], box[3] - box[1], 0, bits)
    return head + place + Image.fromarray(data).tobytes("gif", "L", bits, 0) + b"\0"


def colours_of(images: list[Image.Image], most: int) -> Bytes:
    """(n, 3), uint8, n at most `most`. Spread over all that occur, so that thin lines keep theirs, then moved to the means of what they
    stand for. White stays white."""
    pixels = np.concatenate([np.asarray(image)[::THINNED, ::THINNED] for image in images])
    found = Image.fromarray(pixels).quantize(most, method=Image.Quantize.MAXCOVERAGE, kmeans=1)
    table = np.array(found.getpalette(), dtype=np.uint8).reshape(-1, 3)[:most]
    table[table.min(axis=1) > NEARLY_WHITE] = 255
    return np.unique(table, axis=0)
