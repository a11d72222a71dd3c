"""A zoo: random reservoirs with their inflow records, on which engines are tuned and judged."""
