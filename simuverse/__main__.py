"""``python -m simuverse``, and the command itself: Ctrl-C ends it in order from the start, while it loads too."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs :func:`simuverse.cli.main`."""
    try:
        # Here and not above: it takes half a second, and whoever interrupts that is owed no traceback.
        from simuverse.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
