"""The rows of a fairness program, one kind of promise a module."""
