"""A training that survives: a checkpoint after every epoch, taken up by the next attempt.

Three things make it so. Checkpoints lie in the outputs folder, which all attempts of a job share. They are written to a
second file and then renamed, so that a crash never leaves half of one. On SIGTERM the epoch is finished and saved.
`--fail-at N` plays the crash: the first attempt ends with an error when it reaches epoch N.
"""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy

parser = argparse.ArgumentParser(description="Train with checkpoints.")
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--fail-at", type=int, default=-1)
options = parser.parse_args()
outputs = Path(os.environ.get("TRAINMASTER_OUTPUT_DIR", "/workspace/outputs"))
model_folder = Path(os.environ.get("TRAINMASTER_MODEL_DIR", "/model"))
attempt = int(os.environ.get("TRAINMASTER_ATTEMPT", "1"))
checkpoint = outputs / "checkpoint.pt"

told_to_stop = threading.Event()


def save(epoch: int) -> None:
    """Whoever reads the checkpoint sees the old one or the new one, never half of it."""
    outputs.mkdir(parents=True, exist_ok=True)
    unfinished = checkpoint.with_suffix(".unfinished")
    torch.save({"epoch": epoch, "net": net.state_dict(), "optimizer": optimizer.state_dict()}, unfinished)
    unfinished.replace(checkpoint)


signal.signal(signal.SIGTERM, lambda *_: told_to_stop.set())
torch.manual_seed(0)
images, labels = load_digits(return_X_y=True)
x, y = torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
first = 0
if checkpoint.exists():
    state = torch.load(checkpoint, weights_only=True)
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    first = state["epoch"] + 1
print(f"attempt {attempt} begins with epoch {first}", flush=True)

for epoch in range(first, options.epochs):
    if epoch == options.fail_at and attempt == 1:
        sys.exit(f"attempt {attempt} fails at epoch {epoch}, on purpose")
    total = 0.0
    parts = torch.randperm(len(x)).split(64)
    for part in parts:
        loss = cross_entropy(net(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    save(epoch)
    print(f"epoch={epoch} loss={total / len(parts):.4f}", flush=True)
    if told_to_stop.is_set():
        print(f"told to stop: epoch {epoch} is saved", flush=True)
        sys.exit(0)

model_folder.mkdir(parents=True, exist_ok=True)
torch.save(net.state_dict(), model_folder / "model.pt")
print("done", flush=True)
