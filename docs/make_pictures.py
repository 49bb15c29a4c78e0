"""Take the pictures of README.md from the running dashboard, each after it has come to rest.

    python docs/make_pictures.py      # into docs/pictures

Needs Chromium (`make browser`).
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.driving import INSIDE, Visitor, browsing  # noqa: E402
from tests.helpers.serving import Server  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
LARGEST, LARGEST_MOVING = 300_000, 1_500_000  # bytes
SKIN = {"experiment": "ham10000"}
SCREENS = {
    "explore.png": ("", SKIN | {"picture": "found"}),
    "states.png": ("", {"experiment": "public_coverage", "picture": "gaps"}),
    "learn.png": ("learn", {"step": 4}),
}
STEPS = ("End", *["ArrowLeft"] * 21)  # of the slider that moves: from no limit to zero
GLIDE = 400  # milliseconds that marks take to their places
SCALE = 1.5  # pixels of a picture for one of the page
SHOWN = 500  # milliseconds of each step; the last one longer


def main() -> None:
    """Take all of them."""
    PICTURES.mkdir(exist_ok=True)
    with browsing() as browser, Server() as server:
        visitor = Visitor(browser, server, scale=SCALE)
        for name, (page, link) in SCREENS.items():
            save(still(visitor.open(page, **link)), name)
        save(report(visitor), "report.png")
        moving(visitor.open(**SKIN, picture="found"), "explore.gif")
        assert not visitor.trouble(), visitor.trouble()
        visitor.close()


def still(visitor: Visitor) -> Image.Image:
    """What is on the screen, with nothing below the pointer."""
    visitor.page.mouse.move(2, 700)
    visitor.page.wait_for_timeout(GLIDE)
    return Image.open(io.BytesIO(visitor.page.screenshot()))


def save(picture: Image.Image, name: str) -> None:
    """Write a picture in at most 256 colours; refuse one that is too large for a README."""
    place = PICTURES / name
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(place, optimize=True)
    check(place, LARGEST)


def check(place: Path, most: int) -> None:
    """Tell a file's size, and end where it is too large."""
    size = place.stat().st_size
    print(f"{place.relative_to(ROOT)}: {size / 1000:,.0f} kB")
    if size > most:
        sys.exit(f"{place.name} is larger than {most / 1000:,.0f} kB")


def report(visitor: Visitor) -> Image.Image:
    """The first page of Compare's report on the skin lesions."""
    page = visitor.open("compare", **SKIN).page
    page.get_by_role("button", name="Keep these").first.click()
    visitor.settle()
    page.get_by_role("button", name="Report", exact=True).click()
    page.get_by_role("button", name="Report (HTML)").wait_for()
    visitor.settle()
    with tempfile.TemporaryDirectory() as folder:
        file = visitor.download("Report (HTML)", Path(folder))
        paper = visitor.context.new_page()
        paper.set_viewport_size({"width": 1000, "height": 1130})
        paper.goto(file.as_uri())
        shot = Image.open(io.BytesIO(paper.screenshot()))
        paper.close()
    return shot


def moving(visitor: Visitor, name: str) -> None:
    """A slider moving from no limit to a tight one, as a GIF."""
    frames = []
    for key in STEPS:
        visitor.changes(lambda key=key: visitor.press(INSIDE, key))
        frames.append(still(visitor).convert("RGB").resize((1120, 630), Image.Resampling.LANCZOS))
    both = Image.new("RGB", (frames[0].width, 2 * frames[0].height))
    both.paste(frames[0])
    both.paste(frames[-1], (0, frames[0].height))
    colours = both.quantize(256)  # the same in every frame, or they would flicker
    drawn = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    place = PICTURES / name
    drawn[0].save(
        place,
        save_all=True,
        append_images=drawn[1:],
        duration=[SHOWN] * (len(drawn) - 1) + [4 * SHOWN],
        loop=0,
        optimize=True,
    )
    check(place, LARGEST_MOVING)


if __name__ == "__main__":
    main()
