"""What pages and files say, read back: sentences without their marks, traces, tables of HTML."""

import base64
import re
from html.parser import HTMLParser

import numpy as np


def percent(share):
    return f"{100 * share:.1f} %"


def gap(value):
    return "none" if np.isnan(value) else f"{value:.3f}"


def unmarked(markdown):
    return re.sub(r"\\(.)|\*\*", lambda sign: sign[1] or "", markdown)


def together(text):
    """Without what a line's end does to words, nor marks that are not seen."""
    return re.sub(r"[\s\u00ad\u2060\u2068\u2069]", "", text)


def values(trace, axis):
    """An axis of a trace, whichever way Plotly wrote its numbers."""
    data = trace[axis]
    if isinstance(data, dict):
        flat = np.frombuffer(base64.b64decode(data["bdata"]), data["dtype"])
        shape = data.get("shape")
        return flat.reshape([int(n) for n in shape.split(",")]) if shape else flat
    return np.array(data, float)


class Tables(HTMLParser):
    """Rows of cells of every table, and all the text."""

    def __init__(self):
        super().__init__()
        self.tables, self.text, self.cell = [], [], None

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_data(self, data):
        self.text.append(data)
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None


def tables(html):
    reader = Tables()
    reader.feed(html)
    return reader.tables, " ".join(reader.text)


HEADINGS = {
    "people": "n",
    "accuracy, before": "accuracy_before",
    "gap, before": "gap_before",
    "gap, 95 % from": "gap_low",
    "gap, 95 % to": "gap_high",
    "gap in one draw": "gap_one_draw",
    "chance alone": "noise_floor",
    "gap reached (fitted)": "gap_reached",
    "gap asked": "eps_local",
    "price of a hundredth, points": "price",
}


def check_clients(table, core, order, digits):
    """A client table's every column against the core's own numbers."""
    expected = {
        "n": np.round(core.mean(lambda e: e.counts.n_client)),
        "accuracy_before": core.mean(lambda e: e.before.client_accuracy),
        "accuracy": core.mean(lambda e: e.client_accuracy),
        "gap_before": core.mean(lambda e: e.before.gaps.local),
        "gap": core.mean(lambda e: e.gaps.local),
        "gap_low": core.mean(lambda e: e.local_interval[0]),
        "gap_high": core.mean(lambda e: e.local_interval[1]),
        "gap_one_draw": core.mean(lambda e: e.one_draw[1:]),
        "noise_floor": core.mean(lambda e: e.noise_floor),
        "gap_reached": core.mean(lambda e: e.gaps.local, "fitted"),
        "eps_local": core.solutions[0].eps_local,
        "price": core.prices,
    }
    for name, numbers in expected.items():
        shown = np.asarray(table[name], float)
        np.testing.assert_allclose(shown, numbers[order], atol=0.6 * 10**-digits, err_msg=name)
