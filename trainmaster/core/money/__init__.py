"""What running costs: amounts of money, and what an attempt is charged for."""
