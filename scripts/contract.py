"""Prints the API's contract (OpenAPI) as JSON, from the code alone: no server, no home folder."""

import json
import sys

from trainmaster._version import __version__
from trainmaster.api.app import TABLES
from trainmaster.api.openapi import build

routes = [make(lambda app, _: app) for table in TABLES for make in table.makers]
json.dump(build("Trainmaster", __version__, routes), sys.stdout, indent=1)
