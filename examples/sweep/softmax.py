"""One entry of digits.yaml: a linear classifier of handwritten digits, which tells loss and accuracy of each epoch."""

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits

import trainmaster

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--epochs", type=int, default=27)
parser.add_argument("--pause", type=float, default=0.0, help="seconds to wait after each epoch, to watch it live")
options = parser.parse_args()

chance = np.random.default_rng(0)
images, labels = load_digits(return_X_y=True)
x, y = images / 16, np.eye(10)[labels]
order = chance.permutation(len(x))
train, test = order[:1437], order[1437:]
weights = np.zeros((64, 10))


def predicted(rows: np.ndarray) -> np.ndarray:
    raw = x[rows] @ weights
    powers = np.exp(raw - raw.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


for epoch in range(1, options.epochs + 1):
    mixed = chance.permutation(train)
    for part in np.array_split(mixed, max(1, len(mixed) // options.batch)):
        weights -= options.lr * x[part].T @ (predicted(part) - y[part]) / len(part)
    found = predicted(test)
    loss = -np.log(np.clip((found * y[test]).sum(axis=1), 1e-12, None)).mean()
    accuracy = (found.argmax(axis=1) == labels[test]).mean()
    trainmaster.log({"loss": float(loss), "accuracy": float(accuracy)}, step=epoch)
    time.sleep(options.pause)
print(f"lr={options.lr} batch={options.batch} loss={loss:.4f} accuracy={accuracy:.4f}")
