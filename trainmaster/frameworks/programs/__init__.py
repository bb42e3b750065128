"""Programs that frameworks give to tasks as files, to be run by the task's own Python. Nothing of ours imports them,
and they use nothing but the standard library.
"""
