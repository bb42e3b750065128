"""What lives on this machine, as the agent remembers it: attempts and tasks, their records on disk, and how they are
found and ended.
"""
