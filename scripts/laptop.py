"""Installs the client alone into a new environment, as the guide says, and looks at what came: command line and SDK,
and no server.

For scripts/fresh, on a machine that has nothing yet (`python3 -m scripts.laptop`). Ends with 0 if all is as it is said
to be.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from scripts.readme import prepare

ROOT = Path(__file__).resolve().parents[1]
GOOD = (
    ("tm", "--help"),
    ("tm", "preview", "--offline", str(ROOT / "examples/digits-ddp/job.yaml")),
    ("tm", "doctor"),
    ("python", "-c", "from trainmaster import Client, log; import trainmaster.answers"),
)
REFUSED = ("trainmaster", "serve")


def main() -> int:
    """Install, look; return how many things are not as they should be."""
    prepare()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        env = {**os.environ, "HOME": folder, "TRAINMASTER_SKIP_CONSOLE": "1"}
        subprocess.run([f"{folder}/venv/bin/pip", "install", "-q", str(ROOT)], env=env, check=True)

        def run(*words: str) -> "subprocess.CompletedProcess[str]":
            command = [f"{folder}/venv/bin/{words[0]}", *words[1:]]
            return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)

        wrong = [f"{words} failed:\n{done.stderr}" for words in GOOD if (done := run(*words)).returncode != 0]
        refused = run(*REFUSED)
        if refused.returncode != 1 or "trainmaster[server]" not in refused.stderr or "Traceback" in refused.stderr:
            wrong.append(f"{REFUSED} ended with {refused.returncode}:\n{refused.stderr}")
        installed = {
            line.partition("==")[0].lower()
            for line in run("pip", "freeze", "--exclude", "trainmaster").stdout.split("\n")
            if line
        }
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        wrong += [
            f"{name} was installed"
            for name in sorted(installed & {re.split(r"[\[>]", one)[0] for one in extras["server"]})
        ]
        print(f"the client is {len(installed)} packages besides its own: {', '.join(sorted(installed))}", flush=True)
    print(*wrong, sep="\n", file=sys.stderr)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
