"""Where other people's scripts run: one interface, and one module for each way of keeping them in."""
