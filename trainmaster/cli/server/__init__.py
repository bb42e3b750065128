"""What concerns the server on this machine: serving, its unit, and whether the machine has what it needs."""
