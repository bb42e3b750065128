"""Floor 0: the records of the domain and the pure rules that change them.

Standard library only; no I/O, no clock, no randomness (they are parameters). Imports nothing of the other floors.
Read in this order: states, records, events, actions, reduce, completion.
"""
