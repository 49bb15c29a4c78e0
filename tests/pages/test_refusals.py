"""An upload that is refused leaves one line in the server's log, and nothing of its content there."""

import logging

import pytest

from tests.pages.test_your_data import your_data

SECRET = "Eve-Adams-HIV"
ROWS = f"clinic,{SECRET},{SECRET}\nA,f,1\n".encode()


@pytest.mark.parametrize(
    ("link", "uploader", "data", "by"),
    [
        ({}, "upload-table", ROWS, "check_header"),
        ({"bring": "counts"}, "upload-counts", b'{"a": "' + ROWS, "parse_json"),
        (
            {"bring": "counts"},
            "upload-counts",
            rb'["\ud800' + SECRET.encode() + b'"]',
            "_no_halves",
        ),
    ],
)
def test_a_refusal_is_logged_once_without_what_was_in_it(opened, caplog, link, uploader, data, by):
    app = your_data(opened, **link)
    kind = "csv" if uploader == "upload-table" else "json"
    file = (f"{SECRET}.{kind}", data, "text/plain")
    given = [file] if uploader == "upload-counts" else file
    with caplog.at_level(logging.WARNING, logger="pages"):
        app.file_uploader(key=uploader).set_value(given).run()
        assert app.warning
        app.run()  # the same file still lies there
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("pages")]
    assert line.startswith("upload refused: ") and f"1 files, {len(data)} bytes" in line
    assert by in line and SECRET not in line
