"""TOML to Reservoir: schema, units, curves, checks, and every mistake with its key."""
