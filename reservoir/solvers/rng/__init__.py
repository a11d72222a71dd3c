"""Random numbers by their place: streams and counters."""
