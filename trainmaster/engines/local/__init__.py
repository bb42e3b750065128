"""This machine as an engine: an agent beside the server, connected by a socket."""
