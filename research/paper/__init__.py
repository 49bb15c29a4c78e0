"""The paper: its printed numbers, its own form of the program, the reproduction."""
