"""Inflow records: files -> `Inflow`."""
