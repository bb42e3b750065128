"""Does what the README says under "Your first own job", word for word: the first commands in one terminal, the others
in a second one.

For scripts/fresh, on a machine that has nothing yet. Ends with 0 if every command of the second terminal did.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READY_S = 1800.0
ENDING_S = 30.0


def blocks() -> list[str]:
    """Return the commands of the section, a text for each terminal."""
    _, _, section = (ROOT / "README.md").read_text().partition("## Your first own job\n")
    return re.findall(r"```bash\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)


def prepare() -> None:
    """What the README says of Debian, where there is no ensurepip."""
    if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], check=False, capture_output=True).returncode:
        subprocess.run(["apt-get", "update", "-q"], check=True, stdout=subprocess.DEVNULL)
        packages = ["python3-venv", "bubblewrap"]
        subprocess.run(["apt-get", "install", "-q", "-y", *packages], check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """Open both terminals; return what the second one ends with."""
    first, second = blocks()
    prepare()
    said = Path.home() / ".trainmaster/run/server.json"
    server = subprocess.Popen(["bash", "-exc", first], cwd=ROOT, start_new_session=True)
    try:
        give_up = time.monotonic() + READY_S
        while not said.exists():
            if server.poll() is not None or time.monotonic() > give_up:
                print("readme: the first terminal has no server", file=sys.stderr)
                return 1
            time.sleep(0.5)
        return subprocess.run(["bash", "-exc", second], cwd=ROOT, check=False).returncode
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGINT)
            server.wait(ENDING_S)


if __name__ == "__main__":
    sys.exit(main())
