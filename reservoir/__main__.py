"""``python -m reservoir``: the command line."""


def main() -> None:
    """Run the command line; from the first import to the last moment, an interruption ends it with one line."""
    try:
        from reservoir import runtime

        runtime.listen_to_signals()
        from reservoir.cli import main as run

        run()
    except KeyboardInterrupt:
        from reservoir import runtime

        runtime.leave_signals()
        runtime.end_interrupted()
    finally:
        from reservoir import runtime

        runtime.leave_signals()


if __name__ == "__main__":
    main()
