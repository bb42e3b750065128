"""Floor 1: the job's language. What a person may write (job), whether it is right (check), and what it becomes (lower).

Pure: no I/O, no clock, no randomness. Import the modules, not this package: the models cost a few dozen milliseconds.
"""
