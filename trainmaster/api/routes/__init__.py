"""One file per noun. Each has a table of routes, `routes`, that app.py joins; none is reachable without a policy."""
