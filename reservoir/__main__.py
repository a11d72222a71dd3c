"""``python -m reservoir``: the command line."""

from reservoir.cli import main

main()
