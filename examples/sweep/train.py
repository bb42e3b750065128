"""One training of a sweep: learning rate and width as parameters, curves through `trainmaster.log`."""

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy

import trainmaster

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--epochs", type=int, default=10)
options = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(1)
images, labels = load_digits(return_X_y=True)
x, y = torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels)
order = torch.randperm(len(x))
train, test = order[:1437], order[1437:]
net = nn.Sequential(nn.Linear(64, options.hidden), nn.ReLU(), nn.Linear(options.hidden, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=options.lr, momentum=0.9)
for epoch in range(options.epochs):
    for part in train[torch.randperm(len(train))].split(32):
        loss = cross_entropy(net(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (net(x[test]).argmax(1) == y[test]).float().mean().item()
    trainmaster.log({"loss": loss.item(), "accuracy": accuracy}, step=epoch)
print(f"lr={options.lr} hidden={options.hidden} accuracy={accuracy:.4f}")
