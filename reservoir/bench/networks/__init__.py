"""Experiments on networks trained by particle swarms (Li and Liu 2017)."""
