"""`python -m fairfl_core`, and the door of the command `fairfl`."""

import signal

__all__ = ["main"]


def main() -> None:
    """Load the commands and run one; Ctrl-C before and after ends it as quietly as meanwhile."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from fairfl_core.cli import main as run

    signal.signal(signal.SIGINT, before)
    try:
        run()
    finally:  # Python may yet wait for threads
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
