"""What is printed: tables for people, lines for pipes, JSON for programs. Nothing here asks a server."""
