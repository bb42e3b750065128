"""What is said of the server, of those who use it, and by the client."""
