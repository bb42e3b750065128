"""What a server loads when it starts: memory that each server pays for."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "for_whom"),
    [
        ("cryptography", "who seals or opens something"),
        ("prometheus_client", "who is asked for its measurements"),
        ("smtplib", "who sends mails"),
        ("sqlalchemy.dialects.postgresql", "who keeps its state in PostgreSQL"),
    ],
)
def test_what_only_some_servers_need_is_not_loaded_at_the_start(module: str, for_whom: str) -> None:
    told = f"import sys, trainmaster.service.platform, trainmaster.api.app; print({module!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, check=True, text=True, env=os.environ)
    assert done.stdout.split() == ["False"], f"{module} is for {for_whom}"
