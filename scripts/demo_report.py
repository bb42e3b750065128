"""What came out of the demo: where to sign in, how good the model is, where it lies. Exits 1 if it is not good enough.

Arguments: the JSON of the finished job, the server's log, the console's address, the accuracy wanted. The accuracy is
read from the saved model version itself, so that a good figure also proves that the saving worked.
"""

import json
import os
import re
import sys
from pathlib import Path


def sign_in_lines(log: Path) -> list[str]:
    """What the server said about the first sign-in; it says so only once, on its first start."""
    return [line.strip() for line in log.read_text(errors="replace").splitlines() if re.search("password", line, re.I)]


def saved_version(job: dict[str, object], home: Path) -> Path | None:
    """The folder of the model version that the job left, or None."""
    model, _, version = str(job.get("model") or "").partition("@")
    folder = home / "models" / model / version
    return folder if model and folder.is_dir() else None


def accuracy_of(version: Path) -> float | None:
    """What the training wrote beside its model, or None."""
    for path in version.rglob("metrics.json"):
        return float(json.loads(path.read_text())["accuracy"])
    return None


def main() -> int:
    answer, log, address, wanted = sys.argv[1:]
    try:
        job = json.loads(Path(answer).read_text())
    except ValueError:
        print("the job was not accepted; the message above says why")
        return 1
    version = saved_version(job, Path(os.environ["TRAINMASTER_HOME"]))
    accuracy = accuracy_of(version) if version else None
    good = job["state"] == "succeeded" and accuracy is not None and accuracy >= float(wanted)

    rows = [
        ("console", address),
        *(("sign-in", line) for line in sign_in_lines(Path(log))),
        ("job", f"{job['id']}  {job['state']}"),
        ("test accuracy", f"{accuracy:.4f} (wanted: at least {wanted})" if accuracy is not None else "unknown"),
        ("saved model", str(job.get("model") or "none")),
        ("where", str(version or "nowhere")),
    ]
    for name, value in rows:
        print(f"    {name:<15}{value}")
    if not good:
        print(f"    not what was wanted; more: tm show {job['id']}, tm logs {job['id']}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
