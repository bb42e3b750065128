"""Every command that prints data prints it as JSON with --json, and no other does without saying why (R246)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from typer.main import get_command

from tests.fixtures.shell import ONE_NODE, Shell, serving, write
from trainmaster.cli.main import commands
from trainmaster.service.people.public_keys import read

NONE: Final = {
    "exec": "bytes of a program",
    "serve": "runs until it is ended",
    "unit": "prints a file",
    "password": "asks",
}
"""Commands without --json, and why."""
KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f ann@laptop"
FINGERPRINT: Final = read(KEY).fingerprint
ELSEWHERE: Final = {
    "engine add": "tests/slurm/test_adding.py",
    **{
        f"notify webhook {name}": "tests/unit/cli/test_notify.py"
        for name in ("add", "delete", "test", "turn", "deliveries")
    },
    "storage add": "tests/e2e/test_storage.py",
    "storage check": "tests/e2e/test_storage.py",
    "storage delete": "tests/e2e/test_storage.py",
    "upload": "tests/e2e/test_storage.py",
    "image stop": "tests/unit/cli/test_images.py",
    "engine check": "tests/slurm/test_adding.py",
    "session end": "tests/e2e/test_sharing.py",
    "user link": "tests/oidc/test_forged.py",
    "user unlink": "tests/oidc/test_forged.py",
    "restore": "tests/crash/server/test_backup.py",
}


def leaves() -> Iterator[tuple[str, Any]]:
    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        below = getattr(command, "commands", None)
        if not below or command.invoke_without_command:
            yield " ".join(path), command
        for name, one in (below or {}).items():
            yield from walk(one, (*path, name))

    yield from walk(get_command(commands()), ())


def test_every_command_has_it() -> None:
    for path, command in leaves():
        if path and path != "engine add":
            assert any("--json" in one.opts for one in command.params) == (path not in NONE), path


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


@pytest.mark.timeout(900)  # a process for each of more than 150 commands
def test_every_command_prints_it(tm: Shell, tmp_path: Path) -> None:
    file = write(
        tmp_path / "j.json", "sh -c 'echo x > /workspace/outputs/x; echo y > /model/y'", model={"name": "kept"}
    )
    done = tm.json("submit", file, "--wait")["id"]
    (tmp_path / "net").mkdir()
    algorithm = str(tmp_path / "net" / "algorithm.yaml")
    Path(algorithm).write_text("name: net\ncommand: python train.py\n")
    endless = write(tmp_path / "k.json", "sleep 1000")
    swept = write(tmp_path / "s.json", "sleep 1000", name="many", sweep={"grid": {"lr": [1]}})
    held = tm.json("submit", write(tmp_path / "h.json", "false", debug_hold=600))["id"]
    live = tm.json("submit", endless)["id"]
    token = tm.json("token", "create", "one")["id"]
    tm.here("workspace", "set", "vision")
    invited = tm.json("workspace", "invite", "vision")["id"]
    key = tmp_path / "id.pub"
    key.write_text(f"{KEY}\n")
    tm.until(lambda seen: seen["state"] == "retained", held)
    listed = tmp_path / "requirements.txt"
    listed.write_text("# nothing\n")
    tm.here("image", "create", "kept", "--requirements", str(listed))
    build = tm.json("image", "create", "more", "--requirements", str(listed))["id"]
    said = {
        "image show": ("kept",),
        "image log": (build,),
        "image share": ("kept", "read"),
        "image describe": ("kept", "of a test"),
        "image star": ("kept",),
        "image delete": ("more",),
        "submit": (endless,),
        "preview": (file,),
        "clone": (done,),
        "list": (),
        "show": (done,),
        "explain": (live,),
        "change": (live, "--priority", "urgent"),
        "share": (done, "read"),
        "tag": (done, "+good", "-bad"),
        "note": (done, "worth a look"),
        "star": (done,),
        "template create": ("plan", file),
        "template list": (),
        "template show": ("plan",),
        "template edit": ("plan", "--description", "for all"),
        "template share": ("plan", "read"),
        "template copy": ("plan", "other"),
        "template submit": ("plan", "--name", "planned"),
        "template star": ("plan",),
        **passing("template", "plan"),
        "template delete": ("other",),
        "image create": ("env", "--requirements", str(listed), "--no-wait"),
        **passing("image", "kept"),
        "image build": ("packed", str(tmp_path / "net"), "--requirements", str(listed)),
        "image test": ("kept", "true"),
        "image builds": (),
        "image list": (),
        "dataset upload": ("flowers", str(file)),
        "dataset create": ("petals", str(file)),
        "dataset list": (),
        "dataset show": ("flowers",),
        "dataset files": ("flowers@1",),
        "dataset download": ("flowers", "--to", str(tmp_path / "data")),
        "dataset share": ("flowers", "read"),
        "dataset describe": ("flowers", "5 classes"),
        "dataset star": ("flowers",),
        **passing("dataset", "flowers"),
        "dataset delete": ("flowers@1",),
        "bin list": (),
        "bin restore": ("flowers@1",),
        "bin empty": ("--all",),
        "volume create": ("scratch",),
        "volume list": (),
        "volume upload": ("scratch/in", str(file)),
        "cp": (str(file), "volume:scratch/"),
        "volume show": ("scratch",),
        "volume files": ("scratch",),
        "volume download": ("scratch", "--to", str(tmp_path / "volume")),
        "volume share": ("scratch", "read"),
        "volume change": ("scratch", "--description", "of a test"),
        "volume star": ("scratch",),
        "volume delete": ("scratch",),
        "algorithm create": (algorithm,),
        "algorithm upload": (algorithm, "--name", "other"),
        "algorithm list": (),
        "algorithm show": ("net",),
        "algorithm download": ("net", "--to", str(tmp_path / "code")),
        "algorithm share": ("net", "read"),
        "algorithm describe": ("net", "a small one"),
        "algorithm star": ("net",),
        **passing("algorithm", "net"),
        "algorithm delete": ("net@1",),
        "sweep": (swept,),
        "sweeps list": (),
        "sweeps show": ("many",),
        "sweeps stop": ("many",),
        "sweeps retry": ("many", "--stopped"),
        "sweeps delete": ("many", "--keep-jobs"),
        "view save": ("good", "--tag", "good"),
        "view list": (),
        "view delete": ("good",),
        "bulk": ("tag", "--add", "seen", "--search", "worth", "--yes"),
        "stop": (live,),
        "release": (held,),
        "logs": (done,),
        "metrics": (done,),
        "compare": (done, live),
        "lineage": ("job", done),
        "files": (done, "outputs"),
        "download": (done, "--to", str(tmp_path / "out")),
        "models list": (),
        "models show": ("kept",),
        "models download": ("kept", "--to", str(tmp_path / "model")),
        "models star": ("kept",),
        "models delete": ("kept",),
        "delete": (done,),
        "queue": (),
        "queue policy show": (),
        "queue policy set": ("max_starts=",),
        "privacy": ("--owners", "hidden"),
        "top": (),
        "home": (),
        "open": (),
        "node list": (),
        "node show": ("node-1",),
        "node cordon": ("node-1",),
        "node drain": ("node-1",),
        "node uncordon": ("node-1",),
        "pool list": (),
        "pool set": ("lab",),
        "node move": ("node-1", "default"),
        "pool delete": ("lab",),
        "pool share": ("vc", "cpu=1"),
        "pool unshare": ("vc",),
        "workspace list": (),
        "workspace set": ("vision",),
        "flavor set": ("small", "--workspace", "vision"),
        "flavor list": ("--workspace", "vision"),
        "flavor delete": ("small", "--workspace", "vision"),
        "user add": ("ann", "--workspace", "vision"),
        "user list": (),
        "user show": ("ann",),
        "user password": ("ann",),
        "user lock": ("ann", "--jobs", "keep"),
        "user unlock": ("ann",),
        "workspace create": ("speech", "--owner", "ann"),
        "workspace show": ("speech",),
        "workspace add": ("vision", "ann", "--role", "viewer"),
        "workspace members": ("vision",),
        "workspace limits": ("vision",),
        "workspace remove": ("vision", "ann"),
        "workspace invite": ("vision",),
        "workspace invitations": ("vision",),
        "workspace uninvite": ("vision", invited),
        "storage list": (),
        "secret set": ("TOKEN", "--from-file", str(key)),
        "secret list": (),
        "secret delete": ("TOKEN",),
        "ssh-key add": (str(key),),
        "ssh-key list": (),
        "ssh-key delete": (FINGERPRINT,),
        "user delete": ("ann",),
        "workspace delete": ("vision",),
        "engine list": (),
        "simulate": ("--history",),
        "notify list": (),
        "notify read": (),
        "notify settings": ("--off", "ended:console"),
        "notify webhook list": (),
        "doctor": (),
        "token create": ("two",),
        "token list": (),
        "token delete": (token,),
        "session list": (),
        "balance credit": ("default", "100"),
        "balance correct": ("default", "1", "--note", "why"),
        "balance set": ("default", "--budget", "10"),
        "balance list": (),
        "balance show": ("default",),
        "report": (),
        "audit": (),
        "retention": (),
        "backup": (str(tmp_path / "b.tar"),),
        "upgrade": ("--rehearse",),
    }
    assert {path for path, _ in leaves()} - {""} - set(NONE) - set(ELSEWHERE) == set(said)
    for path, words in said.items():
        printed = tm.here(*path.split(), *words, "--json")
        assert isinstance(json.loads(printed), dict | list), path
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["x"]
    assert [*(tmp_path / "model").rglob("y")]


def passing(noun: str, name: str) -> dict[str, tuple[str, ...]]:
    """Return the commands by which something is passed on to another workspace, and taken in there."""
    return {
        f"{noun} offer": (name, "vision"),
        f"{noun} published": ("--workspace", "vision"),
        f"{noun} subscribe": (name, "--as", "taken", "--workspace", "vision"),
        f"{noun} subscriptions": ("--workspace", "vision"),
        f"{noun} unsubscribe": ("taken", "--workspace", "vision"),
        f"{noun} withdraw": (name, "vision"),
    }
