"""The travelling salesman problem."""
