"""Handwritten digits with PyTorch, data-parallel over any number of processes, on CPUs.

Started by torchrun, which gives rank, world size and the meeting place by environment variables. Nothing in here knows
the platform: it reads code and data beside it, keeps its checkpoint in the outputs folder and its result in the model
folder. The data are the 1797 real 8x8 images that come with scikit-learn, so nothing is downloaded.
"""

import argparse
import json
import os
import signal
import time
from pathlib import Path

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

TRAINING_IMAGES = 1437  # four fifths; the rest is never trained on
GLOBAL_BATCH = 96  # over all processes, so that the result does not depend on their number


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a small network on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--lr", type=float, default=0.1, help="highest learning rate; it falls to 0 along a cosine")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds to wait after each epoch, to watch it live")
    parser.add_argument("--seed", type=int, default=0)
    place = os.environ.get
    parser.add_argument("--model-dir", type=Path, default=place("TRAINMASTER_MODEL_DIR", "/model"))
    parser.add_argument("--output-dir", type=Path, default=place("TRAINMASTER_OUTPUT_DIR", "/workspace/outputs"))
    return parser.parse_args()


def digits(seed: int) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Images (float, 0..1) and labels: a training part and a test part, the same in every process."""
    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    train, test = order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]
    return (x[train], y[train]), (x[test], y[test])


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 10))


def write_whole(path: Path, state: dict[str, object]) -> None:
    """Whoever reads `path` sees the old contents or the new, never half of it, even if this process is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    torch.save(state, unfinished)
    unfinished.replace(path)


class Run:
    """One process of the training."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.checkpoint = options.output_dir / "checkpoint.pt"
        torch.manual_seed(options.seed)
        self.net = network()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=options.lr, momentum=0.9, weight_decay=1e-4)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, options.epochs)
        self.first_epoch = self.resume()
        self.model = DistributedDataParallel(self.net)
        self.train_set, self.test_set = digits(options.seed)
        self.told_to_stop = False
        signal.signal(signal.SIGTERM, self.on_sigterm)

    def on_sigterm(self, *_: object) -> None:
        self.told_to_stop = True

    def resume(self) -> int:
        """Take up the checkpoint of an earlier attempt where there is one. Returns the epoch to go on with."""
        if not self.checkpoint.exists():
            return 0
        state = torch.load(self.checkpoint, weights_only=True)
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        return int(state["epoch"]) + 1

    def save_checkpoint(self, epoch: int) -> None:
        parts = {"net": self.net, "optimizer": self.optimizer, "schedule": self.schedule}
        write_whole(self.checkpoint, {"epoch": epoch, **{name: part.state_dict() for name, part in parts.items()}})

    def train_epoch(self, epoch: int) -> float:
        """One pass over this process's share of the images. Returns the mean loss of the share."""
        self.model.train()
        x, y = self.train_set
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(self.options.seed + 1 + epoch))
        mine = order[self.rank :: self.world]
        batch = max(1, GLOBAL_BATCH // self.world)
        steps = len(x) // (batch * self.world)  # the same number in every process, or they would wait for one another
        total = 0.0
        for step in range(steps):
            part = mine[step * batch : (step + 1) * batch]
            loss = cross_entropy(self.model(x[part]), y[part])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        self.schedule.step()
        return total / steps

    @torch.no_grad()
    def accuracy(self) -> float:
        """The share of test images that are recognised."""
        self.net.eval()
        x, y = self.test_set
        return (self.net(x).argmax(1) == y).float().mean().item()

    def all_agree_to_stop(self) -> bool:
        """Whether any process was told to stop: all must leave after the same epoch."""
        told = torch.tensor([int(self.told_to_stop)])
        dist.all_reduce(told)
        return bool(told.item())

    def train(self) -> None:
        report: dict[str, float] = {"accuracy": self.accuracy()} if self.rank == 0 else {}
        for epoch in range(self.first_epoch, self.options.epochs):
            loss = self.train_epoch(epoch)
            if self.rank == 0:
                report = {"epoch": epoch, "loss": loss, "accuracy": self.accuracy()}
                print("epoch={epoch} loss={loss:.4f} accuracy={accuracy:.4f}".format(**report), flush=True)
                self.save_checkpoint(epoch)
            if self.all_agree_to_stop():
                print(f"rank {self.rank}: told to stop; epoch {epoch} is saved", flush=True)
                return
            time.sleep(self.options.pause)
        if self.rank == 0:
            self.save_model(report)

    def save_model(self, report: dict[str, float]) -> None:
        write_whole(self.options.model_dir / "model.pt", self.net.state_dict())
        text = json.dumps({**report, "epochs": self.options.epochs, "processes": self.world}, indent=2)
        (self.options.model_dir / "metrics.json").write_text(text + "\n")
        print(f"final accuracy={report['accuracy']:.4f}", flush=True)


def main() -> None:
    options = arguments()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    run = Run(options)
    print(f"rank {run.rank} of {run.world} starts with epoch {run.first_epoch}", flush=True)
    run.train()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.3)  # gloo's threads may still hold the last tensors; an interpreter that ends under them aborts


if __name__ == "__main__":
    main()
