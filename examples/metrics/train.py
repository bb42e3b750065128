"""Fits a line by gradient descent and reports its progress through the SDK.

`trainmaster.log` writes to a file that the platform reads; outside a job it does nothing, so the script runs anywhere.
"""

import argparse
import random
import time

import trainmaster

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--lr", type=float, default=0.1)
options = parser.parse_args()

chance = random.Random(0)
points = [(x, 3 * x + 1 + chance.gauss(0, 0.1)) for x in (chance.uniform(-1, 1) for _ in range(500))]
slope = intercept = 0.0
for step in range(options.steps):
    errors = [(slope * x + intercept - y, x) for x, y in points]
    slope -= options.lr * 2 * sum(error * x for error, x in errors) / len(errors)
    intercept -= options.lr * 2 * sum(error for error, _ in errors) / len(errors)
    loss = sum(error**2 for error, _ in errors) / len(errors)
    trainmaster.log({"loss": loss, "slope": slope, "intercept": intercept}, step=step)
    time.sleep(0.05)
print(f"y = {slope:.3f} x + {intercept:.3f}")
