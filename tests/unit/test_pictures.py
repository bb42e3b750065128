"""The documentation's pictures: what a color says in the console, it says in the picture, too."""

import sys
from pathlib import Path

import numpy
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from palette import few_colors  # type: ignore[import-not-found]

IMAGES = Path(__file__).resolve().parents[2] / "docs/images"
LIVE, INITIALIZING, SAVING = (55, 178, 77), (76, 110, 245), (156, 54, 181)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_picture_of_a_question_shows_the_question(language: str) -> None:
    """D13: it was taken while the dialog still faded in, and was a grey page."""
    page = numpy.asarray(Image.open(IMAGES / f"{language}-job-stop.png").convert("L"))
    middle = page[page.shape[0] // 4 : page.shape[0] // 2, page.shape[1] // 2 - 200 : page.shape[1] // 2 + 200]
    assert middle.max(axis=0).min() > 240  # white somewhere in every column of the dialog
    assert page[-60:, 300:].max() < 200  # on a page that is darkened behind it


def test_small_signs_keep_their_color_on_a_page_full_of_letters() -> None:
    """D14: the live dot was grey in 11 of 39 pictures, and two states had one color."""
    page = numpy.full((300, 400, 3), 255, dtype=numpy.uint8)
    letters = numpy.random.default_rng(7)
    page[20:200] = numpy.clip(letters.normal(200, 40, (180, 400, 1)), 0, 255)  # more greys than there are areas
    page[200:] = numpy.clip(letters.normal(200, 40, (100, 400, 1)) + letters.normal(0, 6, (100, 400, 3)), 0, 255)
    for left, color in ((4, LIVE), (40, INITIALIZING), (80, SAVING)):
        page[4:11, left : left + 7] = color
    small = few_colors(Image.fromarray(page))
    seen = numpy.asarray(small.convert("RGB"))
    assert len(small.getcolors()) <= 256
    for left, color in ((6, LIVE), (42, INITIALIZING), (82, SAVING)):
        assert tuple(seen[7, left]) == color
    assert tuple(seen[0, 0]) == (255, 255, 255)
