"""Exchanges of water between two steps, with which searches of reservoir years end."""
