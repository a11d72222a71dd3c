"""reservoir: plan how a hydropower reservoir is operated."""
