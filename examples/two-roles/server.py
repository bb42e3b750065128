"""Answers with the square of every number it is sent. Runs until it is stopped."""

import os
import socketserver


class Square(socketserver.StreamRequestHandler):
    """One client: a number a line in, its square a line out."""

    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(f"{int(line) ** 2}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


# The platform chose the port: PAI_PORT_LIST_<role>_<index>_<label>, the same name in every task of the job.
port = int(os.environ["PAI_PORT_LIST_server_0_answers"])
with Server((os.environ["PAI_HOST_IP_server_0"], port), Square) as server:
    print(f"answering on port {port}", flush=True)
    server.serve_forever()
