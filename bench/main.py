"""`bench/run`: runs the benchmarks named (all of them when none is), prints each record as it comes."""

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Final

from bench import record
from bench.stage import Stage

NAMES: Final = (
    "latency", "throughput", "submit", "logs", "training", "idle", "client", "list", "team", "crash", "abuse", "queue",
    "live", "slurm", "console", "sweeps",
)  # fmt: skip
MODULES: Final = {"list": "listing"}
TRACES: Final = Path("../shared/traces")


def main(arguments: list[str]) -> int:
    """Return 1 when a bar is missed or a benchmark could not be run, else 0."""
    parser = argparse.ArgumentParser(prog="bench/run", description="Measure the platform beside its peers.")
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it works, not to quote")
    parser.add_argument("--traces", type=Path, default=TRACES, help="folder of recorded workloads, for queue")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.name if name not in NAMES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(NAMES)}")
    found: list[record.Record] = []
    for name in options.name or NAMES:
        module = importlib.import_module(f"bench.{MODULES.get(name, name)}")
        with Stage(name, options.traces) as stage:
            for one in module.run(stage, options.quick):
                found.append(one)
                print(json.dumps(one.to_json()), flush=True)
    return 1 if record.missed(found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
