"""Any solver on the eight functions."""
