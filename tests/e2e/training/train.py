"""A training that computes nothing: says an epoch per line, keeps a little work going, leaves a model. For looking
at.
"""

# ruff: noqa: T201 (its lines are what the tests look at)

import argparse
import json
import math
import os
import time
from pathlib import Path

from curve import accuracy_after

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--pause", type=float, default=0.2)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--slow-after", type=int, default=0, help="so many epochs are quick, each later one takes 4 s")
parser.add_argument("--busy", type=float, default=0.1, help="the share of its time for which it computes")
options = parser.parse_args()

index = int(os.environ.get("PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "0"))
print(f"training with lr={options.lr} for {options.epochs} epochs", flush=True)
go = Path(os.environ.get("TRAINMASTER_OUTPUT_DIR", "/workspace/outputs"), "go")  # whoever has seen enough makes it
for epoch in range(1, options.epochs + 1):
    pause = 0.0 if go.exists() else 4.0 if 0 < options.slow_after < epoch else options.pause
    end = time.monotonic() + pause
    while time.monotonic() < end - (1 - options.busy) * pause:
        math.sqrt(epoch)
    time.sleep(max(0.0, end - time.monotonic()))
    accuracy = accuracy_after(epoch, options.epochs, index)
    accuracy /= max(1.0, options.lr)  # a rate that is too high learns little
    print(f"epoch={epoch} of={options.epochs} loss={2.3 * (1 - accuracy):.4f} accuracy={accuracy:.4f}", flush=True)
if index == 0:
    model = Path(os.environ.get("TRAINMASTER_MODEL_DIR", "/model"))
    (model / "weights.json").write_text(json.dumps({"epochs": options.epochs, "accuracy": accuracy}))
