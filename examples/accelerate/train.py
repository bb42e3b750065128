"""Handwritten digits with Hugging Face Accelerate, on any number of processes, on GPUs or CPUs.

Nothing in here knows how many there are: `Accelerator` reads what torchrun sets (`framework: pytorch`), and `prepare`
splits the data and wraps the network.
"""

import argparse
import os
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
options = parser.parse_args()
model_folder = Path(os.environ.get("TRAINMASTER_MODEL_DIR", "/model"))

accelerator = Accelerator(cpu=not torch.cuda.is_available())
set_seed(0)
images, labels = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels))
train, test = torch.utils.data.random_split(data, [1437, 360], torch.Generator().manual_seed(0))
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
net, optimizer, train_loader, test_loader = accelerator.prepare(
    net, optimizer, DataLoader(train, batch_size=24, shuffle=True), DataLoader(test, batch_size=90)
)
accelerator.print(f"{accelerator.num_processes} processes, {accelerator.distributed_type}, {accelerator.device}")

for epoch in range(options.epochs):
    net.train()
    for x, y in train_loader:
        loss = cross_entropy(net(x), y)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    net.eval()
    right = []
    with torch.no_grad():
        for x, y in test_loader:
            right.append(accelerator.gather_for_metrics(net(x).argmax(1) == y))
    accuracy = torch.cat(right).float().mean().item()
    accelerator.print(f"epoch={epoch} loss={loss.item():.4f} accuracy={accuracy:.4f}", flush=True)

accelerator.wait_for_everyone()
if accelerator.is_main_process:
    model_folder.mkdir(parents=True, exist_ok=True)
    accelerator.save(accelerator.unwrap_model(net).state_dict(), model_folder / "model.pt")
accelerator.end_training()
