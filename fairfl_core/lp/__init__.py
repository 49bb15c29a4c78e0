"""The linear program: regions, rows, solver, programs, maps."""
