"""Rules by a network."""
