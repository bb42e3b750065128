"""Floor 1: the queue as a pure function. `plan(snapshot, now, policy)`; no I/O, no clock, no awaiting."""
