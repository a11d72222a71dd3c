"""``python -m reservoir``: the command line."""


def main() -> None:
    """Run the command line; from the first import to the last moment, an interruption ends it with one line."""
    try:
        from reservoir import interrupts

        interrupts.listen()
        from reservoir.cli import main as run

        run()
    except KeyboardInterrupt:
        from reservoir import interrupts

        interrupts.leave()
        interrupts.end_interrupted()
    finally:
        from reservoir import interrupts

        interrupts.leave()


if __name__ == "__main__":
    main()
