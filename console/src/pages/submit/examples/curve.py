"""Pretends to train, and prints what a training prints: an epoch per line. The job reads the metrics out of the log."""

import math
import random
import sys
import time

options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:])
epochs, lr = int(options.get("epochs", 40)), float(options.get("lr", 0.1))
chance = random.Random(0)
for epoch in range(1, epochs + 1):
    done = 1 - math.exp(-lr * epoch)
    loss = 2.3 * (1 - done) + 0.08 + abs(chance.gauss(0, 0.03))
    accuracy = 0.1 + 0.88 * done + chance.gauss(0, 0.005)
    print(f"epoch={epoch} loss={loss:.4f} accuracy={min(accuracy, 1):.4f}", flush=True)
    time.sleep(0.25)
