"""What Streamlit understands in a name stays a name: on a real page, sign by sign."""

from tests.browser.driving import PATIENCE
from tests.helpers.serving import Server

NAMES = """
:material/home: | :streamlit: | :material_home: | :smile: | :+1: | a:b:c | 12:30:45 | :red[x] | :small[q]
:blue-background[y] | :rainbow[z] | :gray-badge[x] | :violet[**x**] | http://example.com | Http://X.Y
https://a.b/c?d=e | www.example.com | WWW.EXAMPLE.COM | ftp://x.y | me@example.com | mailto:me@x.com
xmpp:a@b.c | foo.com/x | a{b} | {{x}} | ${x} | $x^2$ | $$y$$ | a->b | a -> b | a <- b | a <-> b | a -- b
a >= b | a <= b | a ~= b | `code` | *a* | **b** | _c_ | ~~d~~ | ==h== | [l](http://x) | ![i](http://x)
<b>x</b> | <script>1</script> | &amp; | &#58; | # head | 1. one | - item | - [ ] t | > q | [^1] | ^a^ | H~2~O
a\\b | \\:smile\\: | ... | (c) | "q" | a_b_c | %s | x;=1+1 | ＝1 | :material/home::streamlit:www.a.b
"""
LIST = [name.strip() for line in NAMES.strip().splitlines() for name in line.split(" | ")]
APP = """
import pandas as pd
import streamlit as st
from fairfl_core._io.names import plain
names = [plain(name) for name in NAMES]
for place, name in enumerate(names):
    with st.container(key=f"name{place}"):
        st.markdown(name)
st.table(pd.DataFrame({"name": names}))
"""
SHOWN = """() => [
    ...document.querySelectorAll('[class*=st-key-name] [data-testid=stMarkdownContainer]'),
    ...document.querySelectorAll('table tbody td [data-testid=stMarkdownContainer]'),
].map(part => [part.innerText, part.querySelectorAll('a, img, span, code, em, li, h1').length])"""


def test_what_streamlit_understands_in_a_name_stays_a_name(browser, tmp_path):
    script = tmp_path / "app.py"
    script.write_text(APP.replace("NAMES", repr(LIST)), encoding="utf-8")
    with Server(str(script)) as server:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(server.address)
        page.locator("table tbody td").nth(len(LIST) - 1).wait_for()
        shown = page.evaluate(SHOWN)
        page.close()
    for name, (text, parts) in zip(LIST + LIST, shown, strict=True):
        assert (text.replace("\u2060", ""), parts) == (name, 0)
