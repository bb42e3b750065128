"""Pictures with few colors, so that the documentation stays light: areas exactly as they are, and every color that
means something, however small; what is left is shared by the edges of letters.
"""

import numpy
from PIL import Image

COLORS = 256
AREAS = 56
"""The colors of most of the picture, kept exactly."""
SIGNS = 40
"""Saturated colors of dots, tags and lines, kept exactly: what is told by a color must not become grey (D14)."""
SATURATED = 56
"""From here on a color is one, and not a grey: the largest of its parts less the smallest."""
APART = 24
"""Signs are kept that are this far from each other and from the areas: else the blends of one stripe, each on more
points than a dot has, take the place of all."""


def few_colors(picture: Image.Image) -> Image.Image:
    """Return the same picture with a palette."""
    pixels = numpy.asarray(picture).reshape(-1, 3)
    colors, place, count = numpy.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    by_count = numpy.argsort(-count)
    areas, others = by_count[:AREAS], by_count[AREAS:]
    spread = colors.max(axis=1).astype(int) - colors.min(axis=1)
    kept = _with_signs(colors[areas], colors[others[spread[others] >= SATURATED]])
    left = COLORS - len(kept)
    edges = Image.fromarray(colors.reshape(1, -1, 3)).quantize(left, method=Image.Quantize.MEDIANCUT)
    palette = numpy.concatenate([kept, numpy.array(edges.getpalette()).reshape(-1, 3)[:left]]).astype(int)
    nearest = ((colors[:, None, :].astype(int) - palette[None]) ** 2).sum(axis=2).argmin(axis=1)
    small = Image.fromarray(nearest[place.ravel()].astype(numpy.uint8).reshape(picture.height, picture.width), "P")
    small.putpalette(palette.astype(numpy.uint8).tobytes())
    return small


def _with_signs(areas: numpy.ndarray, signs: numpy.ndarray) -> numpy.ndarray:
    """Return the colors of areas, and of signs, the most frequent first, those that are unlike all before them."""
    kept = areas.astype(int)
    for sign in signs.astype(int):
        if len(kept) == len(areas) + SIGNS:
            break
        if ((kept - sign) ** 2).sum(axis=1).min() >= APART**2:
            kept = numpy.vstack([kept, sign])
    return kept.astype(numpy.uint8)
