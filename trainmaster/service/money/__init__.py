"""What running costs, in memory: prices, what workspaces have left and what is set aside, calendar months."""
