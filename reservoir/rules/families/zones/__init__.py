"""Dispatch charts."""
