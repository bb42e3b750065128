"""Fits a small network with DistributedDataParallel: every replica holds a part of the data, and all end with the same model."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
rank, world = dist.get_rank(), dist.get_world_size()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
print(f"rank {rank} of {world} on {device}", flush=True)

torch.manual_seed(0)
x = torch.rand(4096, 8, device=device)
y = x.sin().sum(dim=1, keepdim=True)
mine = slice(rank, None, world)
model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).to(device))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(1, 201):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[mine]), y[mine])
    loss.backward()
    optimizer.step()
    if rank == 0 and epoch % 5 == 0:
        print(f"epoch={epoch} loss={loss.item():.5f}", flush=True)
if rank == 0:
    os.makedirs(os.environ["TRAINMASTER_MODEL_DIR"], exist_ok=True)
    torch.save(model.module.state_dict(), os.path.join(os.environ["TRAINMASTER_MODEL_DIR"], "model.pt"))
dist.destroy_process_group()
