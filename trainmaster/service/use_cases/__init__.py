"""What may be asked of the platform once it runs: of jobs, of the queue, of the cluster. One verb per method, decided
first.
"""
