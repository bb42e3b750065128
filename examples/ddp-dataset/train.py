"""PyTorch DDP with a data set on disk: shards read through a Dataset, split over all processes by a DistributedSampler.

Runs with NCCL where each process has a GPU, else with gloo on CPUs. The platform starts it with torchrun (framework:
pytorch) and shows the data at /dataset; TRAINMASTER_DATASET_DIR says so where there is no sandbox.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

GLOBAL_BATCH = 96  # over all processes


def arguments() -> argparse.Namespace:
    place = os.environ.get
    parser = argparse.ArgumentParser(description="Train on a data set of shards.")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--data", type=Path, default=place("TRAINMASTER_DATASET_DIR", "/dataset"))
    parser.add_argument("--model-dir", type=Path, default=place("TRAINMASTER_MODEL_DIR", "/model"))
    return parser.parse_args()


class Shards(Dataset[tuple[Tensor, Tensor]]):
    """Every image of some .npz files, by its place in them all."""

    def __init__(self, files: list[Path]) -> None:
        if not files:
            raise SystemExit("no shards in the data set: was make_dataset.py run?")
        parts = [np.load(file) for file in files]
        self.images = torch.from_numpy(np.concatenate([part["images"] for part in parts])).float() / 16
        self.labels = torch.from_numpy(np.concatenate([part["labels"] for part in parts])).long()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, at: int) -> tuple[Tensor, Tensor]:
        return self.images[at], self.labels[at]


def main() -> None:
    options = arguments()
    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    rank, world, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local) if gpu else torch.device("cpu")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = Shards(sorted(options.data.glob("train-*.npz")))
    test = Shards([options.data / "test.npz"])
    sampler: DistributedSampler[tuple[Tensor, Tensor]] = DistributedSampler(data, world, rank, drop_last=True)
    loader = DataLoader(data, GLOBAL_BATCH // world, sampler=sampler, num_workers=0, pin_memory=gpu)
    if rank == 0:
        print(f"{len(data)} images in {options.data}: {len(sampler)} for each of {world} processes", flush=True)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 10)).to(device)
    model = DistributedDataParallel(net, device_ids=[local] if gpu else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9, weight_decay=1e-4)
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)  # another order each time, the same in all processes
        model.train()
        total = torch.zeros(1, device=device)
        for x, y in loader:
            loss = cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            net.eval()
            with torch.no_grad():
                right = net(test.images.to(device)).argmax(1).cpu() == test.labels
            mean = total.item() / (len(loader) * world)
            print(f"epoch={epoch} loss={mean:.4f} accuracy={right.float().mean().item():.4f}", flush=True)
    if rank == 0:  # one process writes: all share the folder
        options.model_dir.mkdir(parents=True, exist_ok=True)
        torch.save(net.state_dict(), options.model_dir / "model.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
