"""Floor 4: what programs use. The client, and the few functions a task calls on itself."""
