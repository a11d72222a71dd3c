"""CSV to Inflow: layouts, units, years, and every mistake with its row and column."""
