"""What holds for every test: no server, token or setting of the person who runs them is ever seen."""

import os

for _name in [name for name in os.environ if name.startswith("TRAINMASTER_")]:
    if not _name.startswith("TRAINMASTER_TEST_"):
        del os.environ[_name]
