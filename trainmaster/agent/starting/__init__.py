"""From a gang to running processes."""
