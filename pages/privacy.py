"""Privacy: what noise on the clients' tables does to fairness and accuracy."""

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.privacy.mechanisms import MECHANISMS, NEIGHBOURS, Mechanism
from fairfl_core.privacy.noise_study import Band, NoiseStudy, band, spending
from pages.components.privacy import text as privacy_words
from pages.components.privacy.figures import Series, against_budget, failing_clients
from pages.components.privacy.results import (
    BUDGETS,
    PAPER_ASKED,
    Asked,
    Found,
    Three,
    adult_beside_paper,
    studied,
)
from pages.components.session import controls, state
from pages.components.shared import figures, words
from pages.components.shared.charts import chart, part, table_below
from pages.components.shared.results import Choice, experiment_of

MEAN, WORST = "#0072B2", "#D55E00"
MOST_BARS = 12
FEW, MANY = 20, 40  # draws unless said: with more than ten clients, and with fewer
FIGURES = {
    "Worst client's true gap": "local_worst",
    "Mean client's true gap": "local_mean",
    "Overall true gap": "overall",
    "Accuracy": "accuracy",
}


def page() -> None:
    """Lay the page out, top to bottom."""
    choice = controls.sidebar()
    _live(choice)


@st.fragment
def _live(choice: Choice) -> None:
    """All that follows a slider: only this is re-run when one moves."""
    place = st.container()
    eps_global, eps_local = controls.epsilons()
    clients = experiment_of(choice.experiment).clients
    own = tuple(controls.own_epsilons(clients).items())
    asked = Asked(choice, eps_global, eps_local, own)
    mechanism, draws, both = _noise_controls(len(clients))
    st.caption(
        privacy_words.what_it_is(mechanism, choice, experiment_of(choice.experiment).labels)
    )
    with part("The study of noise"):
        bar = st.empty()
        found = studied(
            asked, mechanism, draws, both=both,
            progress=lambda share: bar.progress(share, "Drawing noise and solving anew"),
        )  # fmt: skip
        bar.empty()
        with place:
            st.markdown(f"#### {privacy_words.headline(found)}")
        _metrics(found)
        st.markdown(privacy_words.comparison(found))
        _charts(found)
    with part("The paper's table"):
        _paper_table(mechanism.neighbours)
    _in_words(mechanism)


# -------------------------------------------------------------------- controls


def _noise_controls(clients: int) -> tuple[Mechanism, int, bool]:
    """Budget, mechanism, neighbour relation, draws; the budget is the one really spent."""
    left, right = st.columns([3, 2], gap="medium")
    budget = state.get("budget", 1.0, _budget)
    left.select_slider(
        "Privacy budget ε that each client really spends",
        BUDGETS,
        format_func=lambda value: f"{value:g}",
        key=state.take_from("budget", budget),
        on_change=state.give_back,
        args=("budget",),
        help="How far one person can change the odds of what is sent: by a factor of at most "
        "e to the power ε. 10 protects little; 0.01 drowns small clients in noise.",
    )
    with right:
        draws = _pick("draws", "Draws of noise for each budget", ("auto", "20", "40", "100", "200"),
                      lambda each: f"{_automatic(clients)} (quick)" if each == "auto" else each)  # fmt: skip
    left, middle, right = st.columns([2, 2, 1], gap="medium", vertical_alignment="bottom")
    with left:
        name = _pick("mechanism", "Mechanism: what gets the noise", MECHANISMS,
                     lambda each: privacy_words.MECHANISMS[each][0])  # fmt: skip
    with middle:
        neighbours = _pick("neighbours", "Neighbours: what must look alike", NEIGHBOURS,
                           lambda each: f"{each}: {privacy_words.NEIGHBOURS[each]}")  # fmt: skip
    both = state.get("both", False, lambda text: text == "True")
    right.toggle("Draw both", key=state.take_from("both", both), on_change=state.give_back,
                 args=("both",), help="Add the other mechanism at the same true budget.")  # fmt: skip
    state.write_link({"budget": budget, "mechanism": name, "neighbours": neighbours,
                      "draws": draws, "both": both})  # fmt: skip
    draws = _automatic(clients) if draws == "auto" else int(draws)
    return spending(name, budget, neighbours), draws, both


def _pick(name, label, options, words_for):  # noqa: ANN001, ANN202
    """A select box over names; a value that is no option falls back to the first."""
    value = state.get(name, options[0])
    if value not in options:
        value = options[0]
        state.put(name, value)
    st.selectbox(label, options, format_func=words_for, key=state.take_from(name, value),
                 on_change=state.give_back, args=(name,))  # fmt: skip
    return value


def _budget(text: str) -> float:
    value = float(text)
    if value not in BUDGETS:
        raise ValueError(text)
    return value


def _automatic(clients: int) -> int:
    return MANY if clients <= 10 else FEW


# -------------------------------------------------------------------- numbers


def _metrics(found: Found) -> None:
    exact = []
    for cell, (name, figure) in zip(st.columns(4), FIGURES.items(), strict=True):
        show = words.percent if figure == "accuracy" else words.gap
        spread = band(getattr(found.study.reached, figure))
        cell.metric(
            name,
            show(spread.middle[found.at]),
            f"{show(spread.low[found.at])} to {show(spread.high[found.at])}",
            delta_color="off",
            delta_arrow="off",
            border=True,
            help="Median over draws, and where 90 in 100 draws lie.",
        )
        exact.append(f"{name.lower()} {show(band(getattr(found.exact, figure)).middle[0])}")
    st.caption(
        "“True” means on the people the lottery was made for (validation), counted without noise. "
        f"Without noise (medians over runs): {', '.join(exact)}."
    )


# -------------------------------------------------------------------- charts


def _charts(found: Found) -> None:
    study = found.study
    left, right = st.columns(2, gap="large")
    limit = float(study.eps_local.max())
    without = float(np.median(found.exact.accuracy))
    middle = {name: band(getattr(study.reached, name)).middle[found.at]
              for name in ("overall", "accuracy")}  # fmt: skip
    with left, part("The local gaps"):
        _bands(
            found,
            (("worst", WORST, "local_worst"), ("mean", MEAN, "local_mean")),
            reading="**True gap inside clients.** Band: 90 in 100 draws; line: median; "
            + ("dots: people the lottery has not seen." if study.held_out is not None
               else f"{words.NO_CHECK}."),
            title="gap inside clients (difference of rates)", name="privacy-local",
            asked=limit if limit < 1 else None,
        )  # fmt: skip
    with right, part("The overall gap"):
        _bands(
            found, (("overall", MEAN, "overall"),),
            reading=f"**True overall gap**, all clients together: {words.gap(middle['overall'])} "
            f"in the median draw at this budget (asked: {words.epsilon(study.eps_global)}).",
            title="overall gap (difference of rates)", name="privacy-overall",
            asked=study.eps_global if study.eps_global < 1 else None,
        )  # fmt: skip
    left, right = st.columns(2, gap="large")
    with left, part("The accuracy"):
        _bands(
            found, (("accuracy", MEAN, "accuracy"),),
            reading=f"**Accuracy**: {words.percent(middle['accuracy'])} in the median draw at this "
            f"budget, {words.percent(without)} without noise. It can rise where noise breaks the "
            "limits.",
            title="accuracy, %", name="privacy-accuracy", times=100.0, digits=1,
            without=without,
        )  # fmt: skip
    with right, part("The failing clients"):
        _fails(study, found.at)


def _bands(found: Found, series, *, reading, title, name, times=1.0, **levels) -> None:  # noqa: ANN001, ANN003
    """One chart of some figures against the budget, and its table."""
    study, other, drawn, columns = (
        found.study,
        privacy_words.MECHANISMS[found.other_name][1],
        [],
        {},
    )
    for label, colour, figure in series:
        spread = band(getattr(study.reached, figure))
        unseen = None if study.held_out is None else band(getattr(study.held_out, figure)).middle
        second = band(getattr(found.other.reached, figure)).middle if found.both else None
        drawn.append(
            Series(label, colour, spread, unseen, None if second is None else (other, second))
        )
        columns |= _columns(label, spread, unseen, second)
    figure = against_budget(study.spent, drawn, here=float(study.spent[found.at]), title=title,
                            times=times, **levels)  # fmt: skip
    table = pd.DataFrame(
        {
            "budget really spent": study.spent,
            "the paper's epsilon": [
                spending("paper", each, study.mechanisms[0].neighbours).epsilon
                for each in study.spent
            ],
        }
        | columns
    ).round(4)
    chart(figures.size_of_type(figure, controls.large_type()), reading=reading, table=table,
          name=name, key=name)  # fmt: skip


def _columns(
    label: str, spread: Band, unseen: np.ndarray | None, other: np.ndarray | None
) -> dict[str, np.ndarray]:
    columns = {
        f"{label}: 5 %": spread.low,
        f"{label}: median": spread.middle,
        f"{label}: 95 %": spread.high,
    }
    if unseen is not None:
        columns[f"{label}: median, unseen people"] = unseen
    if other is not None:
        columns[f"{label}: median, other mechanism"] = other
    return columns


def _fails(study: NoiseStudy, at: int) -> None:
    table = pd.DataFrame(
        {
            "client": study.clients,
            "n": study.n_client.round(),
            "asked": study.eps_local,
            "fails, share of draws": study.fails[at],
            "median true gap": [band(study.reached.local[at, :, c][None]).middle[0]
                                for c in range(len(study.clients))],
        }
    )  # fmt: skip
    table = table.sort_values(
        ["fails, share of draws", "median true gap"], ascending=False, kind="stable"
    )
    shown = table.head(MOST_BARS)
    names = [
        f"{name}  (n = {words.count(n)})" for name, n in zip(shown.client, shown.n, strict=True)
    ]
    figure = failing_clients(names, shown["fails, share of draws"].to_numpy())
    more = f" The first {MOST_BARS} of {len(table)}." if len(table) > MOST_BARS else ""
    chart(
        figures.size_of_type(figure, controls.large_type()),
        reading=f"**How often each client fails** at budget {study.spent[at]:g}. "
        f"{privacy_words.failing(study, at)}{more}",
        table=table.round(4),
        name="privacy-clients",
        key="privacy-clients",
    )


# -------------------------------------------------------------------- the paper, and words


def _paper_table(neighbours: str) -> None:
    st.markdown("#### The paper's own table, beside ours")
    bar = st.empty()
    rows = adult_beside_paper(
        neighbours, progress=lambda share: bar.progress(share, "Repeating the paper's table")
    )
    bar.empty()
    times = rows[1][1] / rows[1][0]
    st.markdown(
        f"Adult, statistical parity, both limits {PAPER_ASKED:g}, unseen people. **What the paper "
        f"calls ε really spends {times:g} ε** ({neighbours}); the histogram gets that same true "
        "budget. Each entry: mean client's gap · overall gap · accuracy. The paper's column is its "
        "Table 4; for FedAvg its Table 2 prints other figures."
    )
    shown = pd.DataFrame(
        [[_row_name(epsilon), _spent(spent), *map(_said, three)]
         for epsilon, spent, *three in rows],
        columns=["the paper's ε", "really spends", "the paper", "ours, the paper's mechanism",
                 "ours, histogram"],
    )  # fmt: skip
    st.table(shown.set_index("the paper's ε"))
    flat = [
        {"the paper's epsilon": _row_name(epsilon), "really spends": _spent(spent)}
        | {f"{who}: {what}": round(getattr(one, what), 4)
           for who, one in zip(("paper", "ours, paper's mechanism", "ours, histogram"), three,
                               strict=True)
           for what in ("local", "overall", "accuracy")}
        for epsilon, spent, *three in rows
    ]  # fmt: skip
    table_below(pd.DataFrame(flat), name="privacy-paper", key="privacy-paper")


def _row_name(epsilon: float) -> str:
    return {float("inf"): "no noise", 0.0: "FedAvg"}.get(epsilon, f"{epsilon:g}")


def _spent(spent: float) -> str:
    return "" if spent in (0, float("inf")) else f"{spent:g}"


def _said(three: Three) -> str:
    return f"{three.local:.3f} · {three.overall:.3f} · {words.percent(three.accuracy)}"


def _in_words(mechanism: Mechanism) -> None:
    st.markdown("#### What is protected, and what is not")
    left, right = st.columns(2, gap="large")
    left.markdown(privacy_words.PROTECTED)
    right.markdown(privacy_words.NOT_PROTECTED)
    st.markdown("**What is shown here is a rehearsal; this is the release**")
    st.markdown(privacy_words.REHEARSAL)
    st.code(
        f"fairfl privatize counts.json --mechanism {mechanism.name} "
        f"--epsilon {mechanism.epsilon:g} --neighbours {mechanism.neighbours} --out noisy.json",
        language="shell",
        wrap_lines=True,
    )


page()
