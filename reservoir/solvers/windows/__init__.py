"""Long horizons by engines of short problems: windows of the horizon, swept until nothing improves."""
