"""Digests of what every engine and command returns, to hold a refactoring against: ``python -m tests.golden``."""
