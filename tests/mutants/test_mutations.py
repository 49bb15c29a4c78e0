"""The command that breaks lines breaks one at a time, and what it breaks still runs."""

import ast
import tomllib
from pathlib import Path

from tests.mutants.mutations import mutants, probed, source_of

SOURCE = '''
"""Not a word of this is touched: 1 < 2."""

LIMIT: int = 3
if TYPE_CHECKING:
    import this


@cached(maxsize=1)
def share(part, whole, *, default=0.5) -> float | None:
    """Nor of this."""
    if whole == 0 and not default:
        return None
    draw(part, part, height=380, marker={"size": 9, "x": 0})
    return min(part / whole, default) if part else -f(whole, part)
'''
CHANGES = [
    (4, "3", "4"),
    (10, "0.5", "1.5"),
    (12, "if whole == 0 and (not default):", "if not (whole == 0 and (not default)):"),
    (12, "whole == 0 and (not default)", "whole == 0 or not default"),
    (12, "whole == 0", "whole != 0"),
    (12, "0", "1"),
    (12, "not default", "not not default"),
    (14, "draw(part, part, height=380, marker={'size': 9, 'x': 0})", "None"),
    (14, "0", "1"),
    (15, "return min(part / whole, default) if part else -f(whole, part)", "return None"),
    (
        15,
        "min(part / whole, default) if part else -f(whole, part)",
        "min(part / whole, default) if not part else -f(whole, part)",
    ),
    (15, "min(part / whole, default)", "max(part / whole, default)"),
    (15, "part / whole", "part * whole"),
    (15, "-f(whole, part)", "--f(whole, part)"),
    (15, "f(whole, part)", "f(part, whole)"),
]


def test_every_kind_of_slip_is_made_once_and_nothing_else_is_touched(tmp_path):
    (tmp_path / "a.py").write_text(SOURCE)
    made = mutants(tmp_path, "a.py")
    expected = {(line, f"{before}  ->  {after}") for line, before, after in CHANGES}
    assert {(mutant.line, mutant.change) for mutant in made} == expected
    assert len(made) == len(expected)
    assert len({source_of(tmp_path, mutant) for mutant in made}) == len(made)
    unbroken = ast.unparse(ast.parse(SOURCE))
    for mutant in made:
        source = source_of(tmp_path, mutant)
        assert source != unbroken
        compile(source, "a.py", "exec")
        assert mutant.line in mutant.reached_by


def test_probes_tell_the_lines_that_are_run(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""Words."""\n\nfrom __future__ import annotations\n\n\n'
        "def sign(x):\n    'More words.'\n    if x < 0:\n        return -1\n    return 1\n"
    )
    seen = []
    source = probed(tmp_path, "a.py", lambda line: f"seen({line})")
    inside = {"seen": seen.append}
    exec(source, inside)
    assert seen == [6]
    for x, lines in ((-3, [8, 9]), (3, [8, 10])):
        seen.clear()
        assert inside["sign"](x) == x // 3
        assert seen == lines


def test_what_is_said_to_change_nothing_can_still_be_made():
    """An entry whose line was rewritten would excuse nothing, or another line by chance."""
    here = Path(__file__)
    entries = tomllib.loads(here.with_name("equivalent.toml").read_text(encoding="utf-8"))
    for entry in entries["mutant"]:
        names = {mutant.name for mutant in mutants(here.parents[2], entry["file"])}
        assert (entry["file"], entry["code"], entry["change"]) in names, entry
        assert entry["why"].endswith(".")
