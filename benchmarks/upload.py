"""How long it takes to take in a large table, and what memory it needs: 5 million rows.

    python benchmarks/upload.py [rows]

Promised: under 10 seconds and 2 GB. Each case runs in a process of its own.
"""

import io
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fairfl_core.intake import experiment_from_table, guess_roles, open_table  # noqa: E402

SECONDS, GIGABYTES = 10.0, 2.0
CASES = {
    "CSV, answers": (".csv", False),
    "CSV, scores": (".csv", True),
    "Parquet, answers": (".parquet", False),
    "Parquet, scores": (".parquet", True),
}


def table(rows: int, scores: bool) -> pd.DataFrame:
    """Made-up people of 200 clients, 3 groups and 2 labels; short names, so that 200 MB suffice."""
    rng = np.random.default_rng(0)
    label = rng.random(rows) < 0.4
    score = np.clip(rng.normal(0.35 + 0.3 * label, 0.2), 0, 1).round(4)
    frame = pd.DataFrame(
        {
            "site": pd.Categorical.from_codes(
                rng.integers(0, 200, rows), [f"s{i}" for i in range(200)]
            ),
            "group": pd.Categorical.from_codes(rng.integers(0, 3, rows), list("abc")),
            "label": label.astype(np.int8),
        }
    )
    if scores:
        return frame.assign(score_0=(1 - score).round(4), score_1=score)
    return frame.assign(prediction=(score > 0.5).astype(np.int8))


def one(case: str, rows: int) -> None:
    suffix, scores = CASES[case]
    frame, out = table(rows, scores), io.BytesIO()
    frame.to_csv(out, index=False) if suffix == ".csv" else frame.to_parquet(out, index=False)
    data = out.getvalue()
    del frame, out
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, worked = time.perf_counter(), time.process_time()
    upload = open_table(f"rows{suffix}", data)
    taken = experiment_from_table(upload, guess_roles(upload))
    seconds = time.perf_counter() - begun
    worked = time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    n = taken.experiment.manifest["dataset"]["rows_used"]
    print(
        f"{case:<17} {n:>10,} rows {len(data) / 1e6:>6.0f} MB {seconds:>6.1f} s "
        f"({seconds / SECONDS:.2f} of the promised; {worked:.1f} s of processor) peak {peak:.2f} GB "
        f"({peak / GIGABYTES:.2f}; {before / 1e6:.2f} before, making the table)",
        flush=True,
    )


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    if len(sys.argv) > 2:
        one(sys.argv[2], wanted)
    else:
        for name in CASES:
            subprocess.run([sys.executable, __file__, str(wanted), name], check=True)
