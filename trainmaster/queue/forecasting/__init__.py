"""When what waits will start."""
