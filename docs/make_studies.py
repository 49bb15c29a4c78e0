"""Write the files of docs/teaching that still move: one an exercise, from bundled data.

    .venv/bin/python docs/make_studies.py

Takes two minutes. The same are to be had in the dashboard by *Files* on *Explore*.
"""

from pathlib import Path

from fairfl_core.data.counts import ClientCounts
from fairfl_core.explore.file import About, explore_file
from fairfl_core.lp.program import FairnessProgram
from pages.compare.files import study_html
from pages.shared.catalogue import catalogue
from pages.shared.view import read_view

FOLDER = Path(__file__).parent / "teaching"
LINKS = {  # the exercise, and the setting of the dashboard that it is about
    "negotiation-states": {"experiment": "public_coverage", "notion": "eop", "seed": "0"},
    "lecture-skin-lesions": {"experiment": "ham10000", "notion": "eo", "seed": "0"},
}


def main() -> None:
    """Write every file."""
    counts = ClientCounts.read(FOLDER / "two-clinics.json")
    about = About(
        title="Two clinics",
        noun="clinic",
        rests=[
            ("Data", "made up for the worksheet: 200 patients, the rule is set on all of them")
        ],
    )
    program = FairnessProgram(counts, "eop", "simplex")
    write("worksheet-two-clinics", explore_file(about, [(0, program)], [None]))
    for name, link in LINKS.items():
        view, _ = read_view(link, catalogue())
        write(name, study_html(view, ()))


def write(name: str, html: str) -> None:
    """Write one file and say how large it is."""
    path = FOLDER / f"{name}.html"
    path.write_text(html, encoding="utf-8")
    print(f"{path.name}: {len(html) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
