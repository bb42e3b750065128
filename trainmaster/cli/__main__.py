"""`python -m trainmaster.cli` is `tm`."""

from trainmaster.cli.main import run

run()
