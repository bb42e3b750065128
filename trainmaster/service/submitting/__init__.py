"""From what somebody sends to a job that is accepted, or to all that is wrong with it: submit, preview, and what both
begin with.
"""
