"""Jobs of every shape whose exact commands and variables are kept as golden files: what tasks will be started with.

The files change only on purpose: ``python -m tests.unit.frameworks.shapes --write`` from the root of the repository.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from trainmaster.core.launch import Gang
from trainmaster.dialects.registry import translate
from trainmaster.frameworks import registry
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft

GOLDEN: Final = Path(__file__).with_name("golden")
FIXTURES: Final = Path(__file__).parents[2] / "fixtures" / "pai"
BASE: Final = {"PATH": "/env/bin:/usr/bin:/bin", "HOME": "/workspace", "LANG": "C.UTF-8"}


def worker(
    name: str = "worker", replicas: int = 1, command: Any = "python train.py", gpu: int = 0, **more: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "replicas": replicas,
        "command": command,
        "resources": {"cpu": 2, "memory": 512, "gpu": gpu},
        **more,
    }


SHAPES: Final[dict[str, dict[str, Any]]] = {
    "single": {
        "name": "single",
        "command": "python train.py --out=$TRAINMASTER_OUTPUT_DIR",
        "parameters": {"lr": 0.1, "tag": "a b"},
    },
    "single-argv": {
        "name": "argv",
        "command": ["bash", "-c", "echo $HOME && true"],
        "env": {"CKPT": "$TRAINMASTER_MODEL_DIR/x"},
    },
    "single-roles-ports": {
        "name": "roles",
        "env": {"LEVEL": "info"},
        "roles": [
            worker(
                "server",
                1,
                "python server.py",
                ports=[{"label": "http", "count": 2}, {"label": "admin", "begin_at": 8080}],
            ),
            worker(
                "client",
                2,
                "python client.py --to=$PAI_HOST_IP_server_0",
                env={"LEVEL": "debug"},
                main=True,
                min_succeeded=2,
            ),
        ],
    },
    "single-cards": {"name": "cards", "roles": [worker(gpu=4)]},
    "single-odd-names": {
        "name": "odd",
        "roles": [
            worker("a.b~c-d", 2, "run ${PAI_HOST_IP_a.b~c-d_1} $PAI_HOST_IP_a_b_c_d_1", ports=[{"label": "p.1"}]),
            worker("a_b", 1),
            worker("a.b", 1, min_failed=None),
            worker("task1", 1),
        ],
    },
    "pytorch-1x1": {"name": "one", "framework": "pytorch", "roles": [worker()]},
    "pytorch-2x2": {
        "name": "digits-ddp",
        "framework": "pytorch",
        "roles": [worker(replicas=2, gpu=2, parameters={"epochs": 30})],
    },
    "pytorch-cpu-2x2": {
        "name": "cpu",
        "framework": {"kind": "pytorch", "processes_per_node": 2},
        "roles": [worker(replicas=2)],
    },
    "pytorch-master-worker": {
        "name": "roles",
        "framework": "pytorch",
        "roles": [
            worker("master", 1, "python3 -u train.py", gpu=1),
            worker("worker", 2, "python3 -m pkg.train", gpu=2),
        ],
    },
    "pytorch-torchrun": {
        "name": "own",
        "framework": "pytorch",
        "roles": [
            worker(
                replicas=2,
                gpu=4,
                command="torchrun --nnodes ${WORLD_SIZE} --nproc_per_node ${SLOTS} --node_rank ${RANK} "
                "--master_addr ${MASTER_ADDR} --master_port ${MASTER_PORT} /workspace/algorithm/train.py",
            )
        ],
    },
    "deepspeed-2x4": {
        "name": "deepspeed",
        "framework": "deepspeed",
        "roles": [
            worker(replicas=2, gpu=4, command="deepspeed train.py --deepspeed --deepspeed_config ds_config.json")
        ],
    },
    "deepspeed-cpu-2x2": {
        "name": "deepspeed-cpu",
        "framework": {"kind": "deepspeed", "processes_per_node": 2},
        "roles": [worker(replicas=2)],
    },
    "tensorflow-2": {"name": "all-reduce", "framework": "tensorflow", "roles": [worker("trainer", 2, gpu=1)]},
    "tensorflow-ps": {
        "name": "ps",
        "framework": "tensorflow",
        "roles": [worker("ps"), worker("worker", 2), worker("chief", gpu=1), worker("evaluator")],
    },
    "paddle-2x2": {"name": "paddle", "framework": "paddle", "roles": [worker(replicas=2, gpu=2)]},
    "paddle-cpu-2x2": {
        "name": "paddle-cpu",
        "framework": {"kind": "paddle", "processes_per_node": 2},
        "roles": [worker(replicas=2, command="python -m pkg.train")],
    },
    "mindspore-cpu-2x2": {
        "name": "mindspore",
        "framework": {"kind": "mindspore", "processes_per_node": 2},
        "roles": [worker(replicas=2, command="python -u train.py --lr=1")],
    },
    "mindspore-msrun": {
        "name": "own",
        "framework": "mindspore",
        "roles": [
            worker(
                replicas=2,
                gpu=2,
                command="msrun --worker_num=$MS_WORKER_NUM --local_worker_num=$SLOTS --master_addr=$MASTER_ADDR "
                "--master_port=$MASTER_PORT --node_rank=$RANK --join=True train.py",
            )
        ],
    },
    "pai-parameter-server": json.loads((FIXTURES / "parameter-server.json").read_text()),
    "pai-every-field": json.loads((FIXTURES / "every-field.json").read_text()),
}


def gang(shape: str) -> Gang:
    """The gang of a shape, placed on nodes of its own."""
    return draft(check(translate(SHAPES[shape]).document), user="ann")


def launches(shape: str) -> list[dict[str, Any]]:
    """What every task of a shape is started with, as JSON."""
    made = registry.preview(gang(shape), BASE)
    return [{"argv": list(one.argv), "env": dict(sorted(one.env.items())), "files": one.files} for one in made]


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("Say --write to replace the golden files by what the code does now; then read the difference.")
    for old in GOLDEN.glob("*.json"):
        old.unlink()
    for name in SHAPES:
        (GOLDEN / f"{name}.json").write_text(json.dumps(launches(name), indent=1, ensure_ascii=False) + "\n")
