"""A proven bound: a number that no schedule of a year, or of a longer horizon, can exceed."""
