"""``python -m reservoir``: the command line."""

from reservoir.interrupts import end_interrupted, leave, listen


def main() -> None:
    """Run the command line; from its first moment to its last, an interruption ends it with one line."""
    try:
        listen()
        from reservoir.cli import main as run

        run()
    except KeyboardInterrupt:
        leave()
        end_interrupted()
    finally:
        leave()


if __name__ == "__main__":
    main()
