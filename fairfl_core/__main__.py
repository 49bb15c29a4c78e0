"""`python -m fairfl_core`."""

from fairfl_core.cli import main

main()
