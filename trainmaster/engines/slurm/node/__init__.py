"""What runs on the nodes of a cluster, inside its jobs. Standard library only, Python 3.9 or newer."""
