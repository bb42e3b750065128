"""Container images: asked of a Docker or Podman socket, and unpacked."""
