"""Re-planning every month with an ensemble of futures."""
