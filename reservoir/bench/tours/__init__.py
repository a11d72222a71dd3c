"""Experiments on genetic algorithms on islands (Alraslan and AlKurdi 2023)."""
