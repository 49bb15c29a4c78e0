"""Until there is a dashboard: what it will show, and what works today."""

import streamlit as st

st.title("What fairness costs a federated model")
st.write(
    "This will be a dashboard in which you say how unfair a federated model may be, overall and "
    "inside each client, and see what that costs in accuracy, whom, and how sure it is."
)
st.write("It is not built yet. The computation is, from the shell:")
st.code(
    "python -m fairfl_core count rows.csv --client clinic --group sex --label diagnosis "
    "--prediction answer --out counts.json\n"
    "python -m fairfl_core solve counts.json --notion eo --eps-global 0.01 --eps-local 0.05",
    language="shell",
    wrap_lines=True,
)
