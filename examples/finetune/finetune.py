"""Fine-tunes a small convolutional network on one GPU, or on the CPU where there is none.

The network first learns the digits 0 to 4 (the base, kept in the outputs folder and taken up by a second attempt). Then
its last layer is replaced, and it learns the digits 5 to 9 from ten images each. The images are the 1797 real ones that
come with scikit-learn, so nothing is downloaded. To begin with a network of your own, name its file with --base.
"""

import argparse
import json
import os
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

SHOTS = 10  # images of each new class that are trained on; all others are the test
CLASSES = 5


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Fine-tune a small network on five new classes.")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--base", type=Path, help="a trained network to begin with; without it one is trained first")
    place = os.environ.get
    parser.add_argument("--model-dir", type=Path, default=place("TRAINMASTER_MODEL_DIR", "/model"))
    parser.add_argument("--output-dir", type=Path, default=place("TRAINMASTER_OUTPUT_DIR", "/workspace/outputs"))
    return parser.parse_args()


def digits(first: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Images and labels 0..4 of the five digits from `first` on."""
    images, labels = load_digits(return_X_y=True)
    mine = (labels >= first) & (labels < first + CLASSES)
    x = torch.tensor(images[mine], dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    return x.to(device), torch.tensor(labels[mine] - first).to(device)


def network() -> nn.Sequential:
    body = [nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*body, nn.Flatten(), nn.Linear(64 * 16, CLASSES))


def optimizer_of(net: nn.Module, lr: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW([one for one in net.parameters() if one.requires_grad], lr=lr)


def fit(net: nn.Module, x: Tensor, y: Tensor, optimizer: torch.optim.Optimizer, batch: int = 32) -> float:
    """One pass over the images. Returns the mean loss."""
    total = 0.0
    parts = torch.randperm(len(x), device=x.device).split(batch)
    for part in parts:
        loss = cross_entropy(net(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(parts)


@torch.no_grad()
def accuracy(net: nn.Module, x: Tensor, y: Tensor) -> float:
    return (net(x).argmax(1) == y).float().mean().item()


def base(options: argparse.Namespace, device: torch.device) -> nn.Sequential:
    """The network that knows 0 to 4: from a file where there is one, else trained now and kept."""
    net = network().to(device)
    kept = options.base or options.output_dir / "base.pt"
    if kept.exists():
        net.load_state_dict(torch.load(kept, map_location=device, weights_only=True))
        print(f"base: taken from {kept.name}", flush=True)
        return net
    x, y = digits(0, device)
    optimizer = optimizer_of(net, 0.002)
    for _ in range(8):
        fit(net, x, y, optimizer)
    kept.parent.mkdir(parents=True, exist_ok=True)
    torch.save(net.state_dict(), kept)
    print(f"base: trained on {len(x)} images of 0 to 4, accuracy on them {accuracy(net, x, y):.4f}", flush=True)
    return net


def main() -> None:
    options = arguments()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(f"device: {torch.cuda.get_device_name() if device.type == 'cuda' else 'cpu'}", flush=True)
    net = base(options, device)
    net[-1] = nn.Linear(64 * 16, CLASSES).to(device)
    for layer in net[:-1]:
        layer.requires_grad_(False)  # the first half trains the new last layer alone
    optimizer = optimizer_of(net, options.lr)
    x, y = digits(5, device)
    few = torch.cat([(y == label).nonzero()[:SHOTS, 0] for label in range(CLASSES)])
    rest = torch.ones(len(x), dtype=torch.bool, device=device)
    rest[few] = False
    score = 0.0
    for epoch in range(options.epochs):
        if epoch == options.epochs // 2:
            net.requires_grad_(True)  # the second half all layers, with smaller steps
            optimizer = optimizer_of(net, options.lr / 10)
        loss = fit(net, x[few], y[few], optimizer)
        score = accuracy(net, x[rest], y[rest])
        print(f"epoch={epoch} loss={loss:.4f} accuracy={score:.4f}", flush=True)
    options.model_dir.mkdir(parents=True, exist_ok=True)
    torch.save(net.state_dict(), options.model_dir / "model.pt")
    (options.model_dir / "metrics.json").write_text(json.dumps({"accuracy": score, "images": len(few)}) + "\n")
    print(f"final accuracy={score:.4f} on {int(rest.sum())} images it has not seen", flush=True)


if __name__ == "__main__":
    main()
