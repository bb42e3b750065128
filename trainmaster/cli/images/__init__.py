"""Images: environments that are built once, and that jobs have by name: `tm image`."""
