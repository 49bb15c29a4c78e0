"""The commands of `python -m research`, one a file."""
