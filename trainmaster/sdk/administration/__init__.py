"""What an administrator does from Python: the cluster, and people."""
