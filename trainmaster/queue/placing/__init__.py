"""On which nodes, cards and ports the replicas of a gang go."""
