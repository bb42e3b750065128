"""The state of one host: who starts, who ended and why, who is over a limit."""
