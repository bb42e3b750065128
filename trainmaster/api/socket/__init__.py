"""Between the socket and the routes: who may connect, which hosts and proxies are ours, how an answer is written."""
