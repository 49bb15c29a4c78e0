"""Compare in a browser: one screen, and a report whose first page is one page on paper."""

from tests.browser.driving import PATIENCE

KEPT = "|".join(
    f"experiment=adult&split=paper&region=simplex&seed=0&eps_local={eps}" for eps in (0.2, 0.05)
)
PAPERS = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}
A4 = (297 - 20) * 96 / 25.4  # pixels between the margins of the print style


def test_it_is_one_screen_and_nothing_is_cut(regular):
    regular.open("compare", **PAPERS, options=KEPT)
    page = regular.page
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        regular.resize(1280, 720)
        bottom = page.locator(".fairfl-picture").bounding_box()
        assert bottom["y"] + bottom["height"] < 720
        assert regular.misfits() == []
        regular.resize(390, 844)
        assert page.locator(".fairfl-compare .axis").first.bounding_box()["y"] < 620
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert regular.misfits() == []
    regular.resize(1280, 720)


def test_the_report_is_the_pages_and_its_first_page_is_one_page(regular, browser, tmp_path):
    visitor = regular.open("compare", **PAPERS, options=KEPT)
    shown = visitor.page.locator(".fairfl-compare td .said").all_inner_texts()
    visitor.page.get_by_role("button", name="Report").click()
    visitor.settle()
    report = visitor.download("Report (HTML)", tmp_path)
    assert visitor.download("Report (PDF)", tmp_path).read_bytes().startswith(b"%PDF-")
    context = browser.new_context(offline=True, viewport={"width": 703, "height": 1000})
    context.set_default_timeout(PATIENCE)
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator(".fairfl-compare td .said").all_inner_texts() == shown
    page.emulate_media(media="print")
    assert page.locator(".page").bounding_box()["height"] <= A4
    text = page.locator("body").inner_text()
    context.close()
    assert asked == [report.as_uri()] and "localhost" not in text
