"""What people ask about money: reports of use, balances, credits and budgets."""
