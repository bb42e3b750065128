"""Routes about money: reports of use, balances, and how amounts are read."""
