"""The queue's side of the live jobs: asks the pure `queue` who starts, keeps what waits and what was used, says when
and why.
"""
