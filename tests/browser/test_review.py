"""The report in a browser: two pages on paper before the annex, and the page's own numbers."""

from tests.browser.driving import INSIDE, PATIENCE

PAPERS = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}
A4 = (297 - 20) * 96 / 25.4  # pixels between the margins of the print style


def test_options_go_into_a_report_of_two_pages(tab, browser, tmp_path):
    visitor = tab().open(**PAPERS, eps_local="0.2")
    keep = visitor.page.get_by_role("button", name="Keep as an option")
    keep.click()
    visitor.settle()
    visitor.changes(lambda: visitor.press(INSIDE, "ArrowLeft"))
    keep.click()
    visitor.settle()
    visitor.go("Review")
    report = visitor.download("Report on the options (HTML)", tmp_path)
    pdf = visitor.download("Report on the options (PDF)", tmp_path)
    assert pdf.read_bytes().startswith(b"%PDF-")
    accuracy = visitor.page.get_by_role("row").filter(has_text="Accuracy, unseen people").first
    shown = accuracy.inner_text().split("\t")[1:]
    page = browser.new_page(viewport={"width": 703, "height": 1000})
    page.set_default_timeout(PATIENCE)
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    heights = page.locator(".page").evaluate_all(
        "pages => pages.map(page => page.getBoundingClientRect().height)"
    )
    assert len(heights) == 2 and max(heights) <= A4
    told = page.locator(".options tr").nth(3).inner_text().split("\t")
    assert told[0] == "Accuracy, unseen people" and told[1:] == [cell.strip() for cell in shown]
    page.close()
