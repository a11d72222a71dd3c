"""Text that no reader need fear: bounded, decoded, printable; sound JSON."""
