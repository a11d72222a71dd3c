"""Training a multilayer perceptron as a problem."""
