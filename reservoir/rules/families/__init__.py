"""Families of rules, a module or a folder each."""
