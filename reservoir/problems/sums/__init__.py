"""Functions that are sums over their variables, as problems whose terms work items share."""
