"""Readers given anything: ``python -m tests.fuzz READER --cases N --seed S`` tries many files, the suite a few."""
