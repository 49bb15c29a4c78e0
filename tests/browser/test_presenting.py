"""What a hall sees: everything on one screen, and the keys of a presenter's remote."""

import pytest

PAPERS = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_controls_and_picture_fit_on_one_screen(tab, width, height):
    visitor = tab()
    visitor.page.set_viewport_size({"width": width, "height": height})
    visitor.open(**PAPERS, present="True")
    main = visitor.page.get_by_test_id("stMain")
    for screen in ("1", "2", "3"):
        assert visitor.link.get("screen", "1") == screen
        assert main.evaluate("main => main.scrollHeight - main.clientHeight") <= 0
        chart = visitor.page.locator(".fairfl-chart").bounding_box()
        assert chart["y"] + chart["height"] <= height and chart["width"] > width / 2
        assert not visitor.page.get_by_test_id("stSidebar").is_visible()
        visitor.page.keyboard.press("PageDown")
        visitor.page.wait_for_function(
            "now => new URLSearchParams(location.search).get('screen') !== now", arg=screen
        )
        visitor.settle()
    visitor.page.keyboard.press("ArrowLeft")
    visitor.page.wait_for_function("location.search.includes('screen=3')")
