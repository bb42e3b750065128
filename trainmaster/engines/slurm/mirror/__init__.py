"""Nodes that share no folder with the server: what lies there and here is kept the same. The server's side."""
