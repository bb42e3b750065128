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


def _near(color: tuple[int, ...], wanted: tuple[float, ...]) -> bool:
    return all(abs(one - other) <= 24 for one, other in zip(color, wanted, strict=True))


def _dot(picture: Path) -> tuple[int, ...]:
    image = Image.open(picture).convert("RGB")
    place = (232, 26) if image.width >= 1280 else (88, 26)  # with the navigation open, and folded
    return tuple(int(part) for part in numpy.asarray(image)[place[1], place[0]])


def test_the_live_dot_is_green_in_every_picture_that_has_one() -> None:
    """D14: beside the guide's "while the dot at the top left is green"; behind a question all is darker."""
    without = {"console", "signin", "simulate-report"}
    wrong = {}
    for picture in sorted(IMAGES.glob("*-*.png")):
        if picture.stem.partition("-")[2] in without:
            continue
        color = _dot(picture)
        if not (_near(color, LIVE) or _near(color, tuple(part * 0.55 for part in LIVE))):
            wrong[picture.name] = color
    assert wrong == {}


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


def test_the_blends_of_a_stripe_do_not_take_the_place_of_a_sign() -> None:
    """D14: in the pictures of the timeline the dot had the color of a bar."""
    page = numpy.full((300, 400, 3), 255, dtype=numpy.uint8)
    grey = numpy.arange(200 * 400).reshape(200, 400, 1) % 200
    page[:200] = 255 - grey  # more areas than are kept
    for nth in range(80):  # each on more points than the dot
        page[200 + nth, :100] = (20 + 2 * nth, 184, 134 + nth)
    page[290:297, 4:11] = LIVE
    seen = numpy.asarray(few_colors(Image.fromarray(page)).convert("RGB"))
    assert tuple(seen[293, 7]) == LIVE
