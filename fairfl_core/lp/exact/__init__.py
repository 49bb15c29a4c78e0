"""The exact region: cuts of the recalibrated score, or rules of the scores generated on demand."""
