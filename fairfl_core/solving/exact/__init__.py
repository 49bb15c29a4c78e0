"""The exact region: every rule of the scores, generated on demand."""
