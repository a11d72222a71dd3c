"""The genetic algorithm's experiments on the travelling salesman problem (Alraslan and AlKurdi 2023)."""

from reservoir.bench.tours.experiment import run
from reservoir.problems.tours.problem import TourProblem, tour_problem
from reservoir.problems.tours.tsplib import Cities, read_cities, read_tour

__all__ = ["Cities", "TourProblem", "read_cities", "read_tour", "run", "tour_problem"]
