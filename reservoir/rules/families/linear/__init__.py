"""Linear decision rules."""
