"""Commands about the queue, the cluster, and who shares it. One file per noun."""
