"""A reservoir's year as a problem."""
