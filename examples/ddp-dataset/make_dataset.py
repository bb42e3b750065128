"""Writes the data set that train.py reads: shards of images as .npz files. Run it once on the node, before the job.

    python make_dataset.py /srv/datasets/digits

The images are the 1797 real ones that come with scikit-learn.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

SHARDS = 8
TRAINING_IMAGES = 1437

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
images, labels = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(images))
train, test = order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]
for number, part in enumerate(np.array_split(train, SHARDS)):
    np.savez(folder / f"train-{number:03}.npz", images=images[part].astype("uint8"), labels=labels[part])
np.savez(folder / "test.npz", images=images[test].astype("uint8"), labels=labels[test])
print(f"{SHARDS} shards with {len(train)} images and test.npz with {len(test)} in {folder}")
