"""Large records searched in parts, on several devices at once or on a cluster, and kept as they are found."""
