"""What every refusal has in common, and small ways to spoil good files."""

import json
import re
import stat

from tests.cli.running import ANSWERED, COLUMNS, run

PRECIOUS = b"an earlier result\n"
TO_DO = re.compile(
    r"\b(add|adjust|check|choose|close|correct|count|fill|fit|free|give|keep|leave|make|name|put|"
    r"raise|remove|rename|replace|save|see|set|shorten|use|write)\b|at least|must|needs|"
    r"one of|like \w|its columns are|the table has|they hold|the clients are",
    re.IGNORECASE,
)
JARGON = re.compile(
    r"Traceback|NoneType|subscriptable|inhomogeneous|object is not|\w+Error\b|<.*>"
)
CELL = ("clients", 1, "counts", 0, 1, 0)  # client north, group f, label yes, prediction no
PLACE = ['"north"', '"f"', '"yes"', '"no"']
NOBODY = [[[0, 0], [0, 0]], [[0, 0], [0, 0]]]
HEADER = "clinic,sex,diagnosis,model\n"
BODY = "north,f,no,no\nnorth,f,yes,yes\nnorth,m,no,yes\nsouth,m,yes,yes\nsouth,f,no,no\n"


def tree(folder):
    """Every file below a folder with its bytes; what is no file, with its kind."""
    return {
        path.relative_to(folder): path.read_bytes()
        if path.is_file()
        else stat.S_IFMT(path.lstat().st_mode)
        for path in sorted(folder.rglob("*"))
    }


def check_sentence(err, says=()):
    assert len(err.splitlines()) == 1, err
    assert err.startswith("fairfl: ") and err.endswith(".\n"), err
    assert not JARGON.search(err), err
    assert TO_DO.search(err), f"says not what to do: {err}"
    for part in says:
        assert str(part) in err, err


def refused(files, *argv, says=(), stdin=b""):
    """Run a command that must be refused."""
    before = tree(files.folder)
    ended = run(*argv, stdin=stdin)
    assert (ended.code, ended.out) == (2, ""), ended
    assert tree(files.folder) == before
    check_sentence(ended.err, says)


def counts_readers(files, counts):
    """Every command that reads counts."""
    return {
        "solve": ("solve", counts, "--out", files / "out.json", "--json"),
        "map": ("map", counts),
        "evaluate": ("evaluate", files.predictor, counts, "--json"),
        "privatize": ("privatize", counts, "--epsilon", "1", "--out", files / "out.json"),
    }


def predictor_readers(files, predictor):
    return {
        "evaluate": ("evaluate", predictor, files.counts),
        "predict": (
            "predict",
            predictor,
            files.rows,
            *ANSWERED,
            "--seed",
            "1",
            "--out",
            files / "out.csv",
        ),
    }


def count_of(files, rows, *more, answer=("--prediction", "model")):
    return ("count", rows, *COLUMNS, *answer, *more, "--out", files / "out.json")


def predict_of(files, rows, *more):
    return ("predict", files.predictor, rows, *ANSWERED, *more, "--out", files / "out.csv")


def loaded(path):
    return json.loads(path.read_text("utf-8"))


def change(*path, to):
    """Set one place of a JSON value; a function is called with what stands there."""

    def apply(value):
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to(value[path[-1]]) if callable(to) else to

    return apply


def without(*path):
    def apply(value):
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return apply


def both(*changes):
    def apply(value):
        for one in changes:
            one(value)

    return apply
