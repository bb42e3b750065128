"""The cache of a node: copies of inputs on its fast storage, shared by all attempts that need them (R187)."""
