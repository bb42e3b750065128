"""How a task is kept apart: what it sees, which system calls it has, which network."""
