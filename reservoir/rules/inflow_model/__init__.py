"""Inflow as families of rules know it: one model fitted to the training years, and what is made of it."""
