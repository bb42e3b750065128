"""The control loop: every change of a live job, what the engines report, what is asked of them, and the clock of it
all.
"""
