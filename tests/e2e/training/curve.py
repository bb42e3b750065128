"""What a learning curve looks like: fast at first, then slowly towards its end, with a little noise that never
changes.
"""

import math
import random


def accuracy_after(epoch: int, epochs: int, seed: int = 0) -> float:
    """Accuracy in 0..1 after `epoch` of `epochs` epochs."""
    noise = random.Random(1000 * seed + epoch).uniform(-0.02, 0.02)
    return 0.97 - 0.87 * math.exp(-6 * epoch / max(epochs, 12)) + noise * (1 - epoch / epochs)
