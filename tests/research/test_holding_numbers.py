"""Every number of the document on limits that hold, recomputed from what was measured."""

import re
from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.data import experiments, save_experiment
from fairfl_core.data.experiments import CROSS_FITTED, PAPER_SPLIT, SeedScores
from research.holding.document import written
from research.holding.evidence import GUARANTEES, cross_fitting_settings, gather
from research.holding.settings import Setting
from research.holding.wanted import in_short

CLIENTS = ("east", "north", "south")
DESCRIPTION = {
    "title": "made up",
    "labels": ["no", "yes"],
    "groups": ["a", "b"],
    "clients": list(CLIENTS),
    "favourable": "yes",
    "notion": "eop",
    "dataset": {"sample": "all rows", "rows_used": 600},
}
HALVES = {"all": (1, 4), "even": (4,), "odd": (1,)}  # seeds


def models(seed, folds):
    """Fold models of the same people, one for the paper's split.

    Of group b they know less; of its test people in the south, who are not as those before, nothing.
    """
    rng = np.random.default_rng(seed)
    n = 600
    client = rng.choice(3, n, p=[0.2, 0.3, 0.5])
    group, label = rng.integers(0, 2, n), (rng.random(n) < 0.35).astype(int)
    tested, fold_of = rng.random(n) < 1 / 3, rng.integers(0, folds, n)
    made = []
    for fold in range(folds):
        person = np.flatnonzero(tested | (fold_of == fold))
        known = np.where(group == 1, 1.0, 2.5)
        known[tested & (group == 1) & (client == 2)] = -2.0
        signal = (known * (label - 0.5))[person]
        score = 1 / (1 + np.exp(-signal - rng.normal(0, 0.8, len(person))))
        made.append(
            SeedScores(
                seed=seed,
                split=tested[person].astype(np.int8),
                client=client[person],
                group=group[person],
                label=label[person],
                scores=np.stack([1 - score, score], axis=1),
                clients=CLIENTS,
                chosen=1,
                loss=np.array([0.9, 0.7]),
                accuracy=np.array([0.5, 0.6]),
                **({"person": person} if folds > 1 else {}),
            )
        )
    return made


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """One made-up experiment by both protocols, under the names of which something was wanted."""
    folder = tmp_path_factory.mktemp("holding")
    save_experiment.save(folder / "tiny", DESCRIPTION, [models(seed, 1)[0] for seed in (1, 4)])
    crossed = [models(seed, 2) for seed in (1, 4)]
    save_experiment.save_cross_fitted(folder / "tiny_cf", DESCRIPTION, crossed, "tiny")
    opened = [experiments.open(name, folder) for name in ("tiny", "tiny_cf")]
    found = gather(*opened, draws=3)
    return {"public_coverage": found, "ham10000": found}


@pytest.fixture(scope="module")
def text(evidence):
    return written(evidence)


def tables_of(text):
    """Each table as {heading: rows of cells}."""
    found = {}
    for part in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in part.splitlines() if line.startswith("| ")][2:]
        found[part.splitlines()[0]] = [
            tuple(cell.strip() for cell in line[1:-1].split("|")) for line in lines
        ]
    return found


def by_half(figure, form):
    """A figure of all seeds, the even ones and the odd ones, as it is written."""
    return " / ".join(format(figure(seeds), form) for seeds in HALVES.values())


def confidence(setting):
    (name,) = [name for name, one in GUARANTEES.items() if one == setting.guarantee]
    return name


def limit(setting):
    overall = "" if setting.eps_global == 1 else f", overall {setting.eps_global:.2f}"
    return f"{setting.eps_local:.2f}{overall}"


# -------------------------------------------------------------------- (a) resampling


class Draws:
    """What resampling measured of one setting, draw by draw, in plain lists."""

    def __init__(self, one):
        self.setting = one.setting
        self.draws = [
            (int(seed), local.tolist(), float(overall), float(accuracy))
            for seed, local, overall, accuracy in zip(
                one.seed, one.local, one.overall, one.accuracy, strict=True
            )
        ]

    def _of(self, seeds):
        return [draw for draw in self.draws if draw[0] in seeds]

    def held(self, seeds):
        """By draw and client, whether the limit holds."""
        most = self.setting.eps_local + 1e-6
        return [[gap <= most for gap in local] for _, local, _, _ in self._of(seeds)]

    def mean(self, seeds):
        return float(np.mean(self.held(seeds)))

    def least(self, seeds):
        return min(np.mean(self.held(seeds), axis=0))

    def together(self, seeds):
        return float(np.mean([all(draw) for draw in self.held(seeds)]))

    def overall(self, seeds):
        most = self.setting.eps_global + 1e-6
        return float(np.mean([overall <= most for _, _, overall, _ in self._of(seeds)]))

    def accuracy(self, seeds):
        return 100 * float(np.mean([accuracy for *_, accuracy in self._of(seeds)]))

    @property
    def error(self):
        shares = [np.mean(draw) for draw in self.held(HALVES["all"])]
        return np.std(shares, ddof=1) / len(shares) ** 0.5


@pytest.fixture(scope="module")
def resampled(evidence):
    return {
        protocol: {setting: Draws(one) for setting, one in covered.items()}
        for protocol, covered in evidence["ham10000"].resampled.items()
    }


def test_coverage_and_cost_are_those_of_the_draws(resampled, text):
    rows = iter(tables_of(text)["ham10000, resampled"])
    for protocol, covered in resampled.items():
        for setting, one in covered.items():
            least = np.argmin(np.mean(one.held(HALVES["all"]), axis=0))
            free = covered[setting.unguarded]
            cost = free.accuracy(HALVES["all"]) - one.accuracy(HALVES["all"])
            assert next(rows) == (
                protocol,
                setting.region,
                limit(setting),
                confidence(setting),
                by_half(one.mean, ".3f"),
                f"{one.error:.3f}",
                f"{by_half(one.least, '.2f')} ({CLIENTS[least]})",
                by_half(one.together, ".2f"),
                by_half(one.overall, ".2f") if setting.eps_global < 1 else "",
                by_half(one.accuracy, ".2f"),
                f"{cost:.2f}" if setting.guarantee else "",
            )
    assert next(rows, None) is None


def test_a_confidence_that_fell_short_is_listed(evidence):
    """Gaps are set: in two of six draws one client is above its limit, in one the overall gap is."""
    found = evidence["ham10000"]
    setting = Setting("simplex", "labels", 0.05, 0.10)
    none, each, every, proved = (
        replace(setting, guarantee=one)
        for one in map(GUARANTEES.get, ("none", "each", "all", "proved"))
    )
    held = np.zeros((6, len(CLIENTS)))
    above = held.copy()
    above[[0, 4], 1] = 0.1 + 1e-3
    overall = np.array([0, 0, 0, 0.05 + 1e-3, 0, 0])
    gaps = {
        none: (above, overall),  # promised nothing
        each: (above, np.zeros(6)),  # 16 of 18
        every: (above, overall),  # in 4 of 6 draws all, in 5 overall
        proved: (held + 0.1, np.full(6, 0.05)),  # on the limits is within
    }
    covered = {
        one: replace(measured, local=local, overall=overall)
        for one, measured in found.resampled[CROSS_FITTED].items()
        for local, overall in [gaps.get(one, (held, np.zeros(6)))]
    }
    text = written({"tiny": replace(found, resampled=found.resampled | {CROSS_FITTED: covered})})
    short = text.partition("### Where a confidence fell short")[2].partition("\n## ")[0]
    where = f"- tiny, people as in {CROSS_FITTED}, simplex, limit 0.10, overall 0.05"
    assert [line for line in short.splitlines() if CROSS_FITTED in line] == [
        f"{where}, each: inside clients 0.889",
        f"{where}, all: inside clients 0.667",
        f"{where}, all: overall 0.833",
    ]


# -------------------------------------------------------------------- (b) and (c) test people


class Unseen:
    """What test people show of one setting, seed by seed; of the model alone if `own`."""

    def __init__(self, study, *, own=False):
        self.by_seed = {
            outcome.seed: outcome.held_out.before if own else outcome.held_out
            for outcome in study.outcomes
        }

    def _of(self, seeds):
        return [self.by_seed[seed] for seed in sorted(seeds)]

    def accuracy(self, seeds):
        return 100 * float(np.mean([one.accuracy for one in self._of(seeds)]))

    def squares(self, seeds):
        gaps = [one.debiased(one.larger_half).gap for one in self._of(seeds)]
        return [gap * abs(gap) for gap in gaps]

    def debiased(self, seeds):
        """The root of the mean square, and of two standard errors either side."""
        squares = self.squares(seeds)
        error = np.std(squares, ddof=1) / len(squares) ** 0.5 if len(squares) > 1 else np.nan
        ends = (
            np.mean(squares) + sign * error if sign else np.mean(squares) for sign in (0, -2, 2)
        )
        return [float(np.sign(end) * abs(end) ** 0.5) for end in ends]

    def lows(self, seeds):
        return [low for one in self._of(seeds) for low in one.local_interval[0]]

    def share_above(self, seeds, eps):
        lows = self.lows(seeds)
        return 100 * sum(low > eps for low in lows) / len(lows)


@pytest.fixture(scope="module")
def tested(evidence):
    return {
        protocol: {setting: Unseen(study) for setting, study in studies.items()}
        for protocol, studies in evidence["ham10000"].held_out.items()
    }


def told(debiased):
    return "{:.3f} ({:.3f} to {:.3f})".format(*debiased)


def test_cross_fitting_is_compared_seed_by_seed(evidence, tested, text):
    rows = iter(tables_of(text)["ham10000, test people"])
    pairs = {
        (setting.region, setting.rates): [
            tested[one][setting] for one in (PAPER_SPLIT, CROSS_FITTED)
        ]
        for setting in cross_fitting_settings()
    }
    some = cross_fitting_settings()[0]
    studies = evidence["ham10000"].held_out
    model = [Unseen(studies[one][some], own=True) for one in (PAPER_SPLIT, CROSS_FITTED)]
    for half, seeds in HALVES.items():
        for name, (paper, crossed) in ({("FedAvg", ""): model} | pairs).items():
            less = np.subtract(crossed.squares(seeds), paper.squares(seeds)) * 1e4
            error = np.std(less, ddof=1) / len(less) ** 0.5 if len(less) > 1 else np.nan
            assert next(rows) == (
                half,
                *name,
                f"{paper.accuracy(seeds):.2f}",
                f"{crossed.accuracy(seeds):.2f}",
                told(paper.debiased(seeds)),
                told(crossed.debiased(seeds)),
                f"{np.mean(less):.1f} ({error:.1f})",
            )
    assert next(rows, None) is None


def test_clients_above_the_limit_are_counted_on_test_people(tested, text):
    rows = iter(tables_of(text)["ham10000, above the limit"])
    every, most = HALVES["all"], 0
    for protocol, settings in tested.items():
        for setting, one in settings.items():
            if setting in cross_fitting_settings():
                continue
            free, eps = settings[setting.unguarded], setting.eps_local
            above = sum(low > eps for low in one.lows(every))
            most = max(most, above)
            assert next(rows) == (
                protocol,
                setting.region,
                limit(setting),
                confidence(setting),
                by_half(one.accuracy, ".2f"),
                f"{free.accuracy(every) - one.accuracy(every):.2f}" if setting.guarantee else "",
                f"{above} of {len(one.lows(every))}",
                by_half(lambda seeds, one=one, eps=eps: one.share_above(seeds, eps), ".1f"),
            )
    assert next(rows, None) is None and most > 0


# -------------------------------------------------------------------- wanted, and in short


def test_what_was_wanted_is_measured_as_it_is_written(resampled, tested, text):
    rows = {
        wanted: (measured, reached)
        for wanted, measured, reached in tables_of(text)["Wanted and measured"]
    }
    crossed, paper = tested[CROSS_FITTED], tested[PAPER_SPLIT]
    asked = "PublicCoverage, (.01, .01), cross-fitted"
    exact = Setting("exact", "labels", 0.01, 0.01)
    sure = Setting("exact", "labels", 1.0, 0.10, GUARANTEES["each"])
    simplex = Setting("simplex", "labels", 1.0, 0.10, GUARANTEES["each"])
    covered = resampled[CROSS_FITTED]

    def cost(setting):
        return lambda seeds: (
            covered[setting.unguarded].accuracy(seeds) - covered[setting].accuracy(seeds)
        )

    confident = "PublicCoverage, exact, confidence .95 each, limit .10"
    bands = "HAM10000, simplex, confidence .95 each, limit .10"
    expected = {
        f"{asked}, exact, labels: debiased gap of the larger 25 states at most .025": (
            lambda seeds: crossed[exact].debiased(seeds)[0],
            ".3f",
            lambda value: value <= 0.025,
        ),
        **{
            f"{asked}, {one.region}, {one.rates}: debiased gap less that of the paper's split, "
            "below 0": (
                lambda seeds, one=one: (
                    crossed[one].debiased(seeds)[0] - paper[one].debiased(seeds)[0]
                ),
                ".3f",
                lambda value: value <= 0,
            )
            for one in cross_fitting_settings()
        },
        f"{asked}, exact, labels: accuracy less that of the paper's split, in points, not below 0": (
            lambda seeds: crossed[exact].accuracy(seeds) - paper[exact].accuracy(seeds),
            ".2f",
            lambda value: value >= 0,
        ),
        f"{confident}: mean coverage at least .97": (
            covered[sure].mean,
            ".3f",
            lambda value: value >= 0.97,
        ),
        f"{confident}: no client below .80": (
            covered[sure].least,
            ".2f",
            lambda value: value >= 0.8,
        ),
        f"{confident}: cost against no guarantee at most .3 points": (
            cost(sure),
            ".2f",
            lambda value: value <= 0.3,
        ),
        f"{confident}: at most 2 % of states significantly above it on test": (
            lambda seeds: crossed[sure].share_above(seeds, 0.1),
            ".1f",
            lambda value: value <= 2,
        ),
        f"{bands}: mean coverage at least .97": (
            covered[simplex].mean,
            ".3f",
            lambda value: value >= 0.97,
        ),
        f"{bands}: cost, in points": (cost(simplex), ".2f", None),
    }
    assert set(rows) == set(expected)
    for wanted, (figure, form, reached) in expected.items():
        judged = "told"
        if reached is not None:
            judged = " / ".join(
                "yes" if reached(figure(seeds)) else "no" for seeds in HALVES.values()
            )
        assert rows[wanted] == (by_half(figure, form), judged), wanted


def test_in_short_one_sentence_a_region(evidence, resampled, tested, text):
    one = evidence["ham10000"]
    counts = one.cross_fitted.counts(1, one.cross_fitted.fit_split)
    constant = 100 * counts.table.sum(axis=(1, 3)).max(axis=1).sum() / counts.table.sum()
    short = text.partition("## In short")[2].partition("\n## ")[0]
    lines = [line for line in short.splitlines() if line.startswith("- ")]
    every, expected = HALVES["all"], []
    for region in ("simplex", "exact"):
        sure = Setting(region, "labels", 1.0, 0.10, GUARANTEES["each"])
        pair = [resampled[CROSS_FITTED][setting] for setting in (sure.unguarded, sure)]
        seen = [tested[CROSS_FITTED][setting].lows(every) for setting in (sure.unguarded, sure)]
        above = [sum(low > 0.1 for low in lows) for lows in seen]
        before, after = (draws.accuracy(every) for draws in pair)
        line = (
            f"- **tiny, {region}**: it holds in {100 * pair[0].mean(every):.1f} % of clients and "
            f"draws, with confidence .95 for each in {100 * pair[1].mean(every):.1f} %, at "
            f"{before - after:.2f} points ({before:.2f} to {after:.2f} %). Real test people show "
            f"{above[0]} of {len(seen[0])} clients above it beyond chance, with the confidence "
            f"{above[1]}."
        )
        left = 100 * (after - constant) / (before - constant)
        assert left < 50
        expected.append(
            f"{line} At this size certainty costs what the data lack: of what the lottery adds to "
            f"one answer a client ({constant:.2f} %) {max(left, 0):.0f} % are left."
        )
    assert lines == 2 * expected


@pytest.mark.parametrize(
    ("left", "dear"), [(-0.2, True), (0.3, True), (0.51, False), (1.1, False)]
)
def test_certainty_is_dear_where_less_than_half_is_left(evidence, left, dear):
    """Accuracies on either side of half of what the lottery adds to one answer a client."""
    one = evidence["ham10000"]
    sure = Setting("exact", "labels", 1.0, 0.10, GUARANTEES["each"])
    constant = one.constant_accuracy
    covered = one.resampled[CROSS_FITTED]
    made = {
        setting: replace(covered[setting], accuracy=np.full_like(covered[setting].accuracy, value))
        for setting, value in ((sure.unguarded, constant + 0.1), (sure, constant + 0.1 * left))
    }
    (line,) = in_short(replace(one, resampled={CROSS_FITTED: made}))
    assert ("certainty costs what the data lack" in line) == dear
    assert (f"{100 * max(left, 0):.0f} % are left." in line) == dear
