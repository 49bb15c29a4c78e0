"""What a hall sees: everything on one screen, and the keys of a presenter's remote."""

import socket

import pytest
import segno

from pages.shared.state import here_only
from tests.browser.driving import Visitor
from tests.helpers.serving import Server

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


def own_address():
    """Where others would reach this machine; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # an address of documents, which nobody has
        except OSError:
            return "localhost"
        return way.getsockname()[0]


def test_a_code_leads_whoever_scans_it_to_the_same_setting(browser):
    """On a server at the machine's own address, as in a lecture hall."""
    host = own_address()
    if here_only(f"http://{host}"):
        pytest.skip("This machine has no address of its own.")
    with Server(host=host) as server:
        lecturer = Visitor(browser, server).open(**PAPERS, eps_local="0.1", present="True")
        lecturer.page.get_by_role("button", name="Scan").click()
        code = lecturer.page.locator(".fairfl-code")
        code.wait_for()
        lecturer.page.wait_for_function(
            "document.querySelector('.fairfl-code').naturalWidth > 100"
        )
        link = lecturer.page.url.replace("present=True&", "").replace("/?", "?")
        drawn = segno.make(link, error="l", micro=False)
        assert code.get_attribute("src") == drawn.svg_data_uri(
            scale=6, border=4, light="white", encode_minimal=False
        )
        student = lecturer.tab()
        student.page.set_viewport_size({"width": 390, "height": 900})
        student.follow(link)
        assert student.headline == lecturer.headline and "present" not in student.link
        assert not lecturer.trouble() and not student.trouble()
        lecturer.close()
