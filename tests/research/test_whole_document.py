"""The reproduction as a whole: its parts in their order, each told while it is made."""

from fairfl_core.data import experiments
from research.paper import reproduction as room


def test_every_part_is_told_and_stands_in_its_place(monkeypatch):
    monkeypatch.setattr(room, "_experiment", lambda one: f"[{one.name}]")
    monkeypatch.setattr(room, "_scenarios", lambda all_: f"[{' '.join(one.name for one in all_)}]")
    monkeypatch.setattr(room, "method_tables", lambda: "[methods]")
    monkeypatch.setattr(room, "_privacy", lambda one: f"[noise, {one.name}]")
    told = []
    text = room.reproduction(told.append)
    names = room.papers_experiments()
    shipped = [name for name in room.SCENARIOS if name in experiments.list_experiments()]
    assert {"adult", "public_coverage"} <= {*names}
    assert not [name for name in names if experiments.open(name).grouping is not None]
    parts = [*(f"[{name}]" for name in names), f"[{' '.join(shipped)}]"]
    parts += ["[methods]", "[noise, adult]"]
    assert text == "\n".join([room._HEAD, *parts])
    assert told == [
        *(f"{name}: every setting and region" for name in names),
        *("the scenarios' maps", "every method", "privacy"),
    ]


def test_without_experiments_only_methods_are_told(monkeypatch):
    monkeypatch.setattr(experiments, "list_experiments", list)
    monkeypatch.setattr(room, "method_tables", lambda: "[methods]")
    told = []
    assert room.reproduction(told.append) == f"{room._HEAD}\n[methods]"
    assert told == ["every method"]
