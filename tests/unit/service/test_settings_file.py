"""An engine is added to a config.toml that a person wrote: the addition is in it, and every line of theirs."""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.config import MOST_PENDING
from trainmaster.core.errors import Conflict, InvalidSpec
from trainmaster.engines.kinds import find
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.service import settings_file
from trainmaster.service.adding import pools_of, section_of
from trainmaster.service.settings_file import with_engine

SLURM = find("slurm")
ALPS = section_of(SLURM, "alps", pools_of(SLURM, ["gpu=a100", "long"]), {"conf": "/etc/slurm/slurm.conf"}, MOST_PENDING)

WORDS = st.text("abcxyz09 #='[]\"\\é火", max_size=12)
COMMENT = st.builds("# {}".format, WORDS)
LINES = {
    "server": {"port": st.integers(1, 65535), "host": WORDS, "data": WORDS.map("/s/{}".format)},
    "local": {
        "virtual_nodes": st.integers(0, 9),
        "sandbox": st.sampled_from(["auto", "none"]),
        "overcommit_cpu": st.floats(0.5, 9),
    },
    "limits": {"log_mib": st.integers(0, 10**6), "sample_s": st.floats(0.1, 60)},
}


@st.composite
def configs(draw: st.DrawFn) -> str:
    """Return a valid config.toml with comments, in any order, with or without engines."""
    blocks = []
    for name in draw(st.permutations(sorted(LINES))):
        if not draw(st.booleans()):
            continue
        chosen = [(key, draw(values)) for key, values in LINES[name].items() if draw(st.booleans())]
        lines = [
            f"{key} = {json.dumps(value, ensure_ascii=False)}{draw(st.sampled_from(['', '  # so', '#']))}"
            for key, value in chosen
        ]
        dotted = draw(st.booleans()) and not blocks
        head = (
            [] if dotted else [f"{draw(st.sampled_from(['', '  ']))}[{name}]{draw(st.sampled_from(['', ' # here']))}"]
        )
        blocks.append("\n".join([*head, *(f"{name}.{line}" if dotted else line for line in lines), draw(COMMENT)]))
    engines = ['[[engines]]\nname = "first" # ours\n', '[[engines]]\nname = "far"\nkind = "slurm"\npools = ["there"]\n']
    at = draw(st.integers(min(1, len(blocks)), len(blocks)))
    blocks[at:at] = engines[: draw(st.integers(0, 2))]
    return draw(st.sampled_from(["\n", "\n\n", "\n   \n"])).join(blocks) + draw(st.sampled_from(["", "\n"]))


@given(configs(), st.sampled_from(["", "/shared/tm"]))
def test_the_file_says_what_it_said_and_the_addition(text: str, data: str) -> None:
    before, made = tomllib.loads(text), with_engine(text, ALPS, data)
    after = tomllib.loads(made)
    there = before.get("engines", [{"name": "local"}])
    assert after.pop("engines") == [*there, ALPS]
    if data:
        assert after["server"].pop("data") == data
        before.setdefault("server", {}).pop("data", None)
    before.pop("engines", None)
    assert {"server": {}, **after} == {"server": {}, **before}
    rest = iter(made.splitlines())
    mine = [line for line in text.splitlines() if not (data and "data = " in line)]
    assert all(line in rest for line in mine), made  # every line of theirs, in their order


def test_the_machine_that_nobody_wrote_is_written_first() -> None:
    assert with_engine("", ALPS) == (
        '[[engines]]\nname = "local"\n\n[[engines]]\nname = "alps"\nkind = "slurm"\npools = ["gpu", "long"]\n'
        'conf = "/etc/slurm/slurm.conf"\npartitions = { "gpu" = "a100" }\n'
    )


def test_the_data_folder_is_changed_in_its_place_and_its_remark_stays() -> None:
    made = with_engine('[server]\nport = 1\ndata = "/old" # the big disk\n[local]\n', ALPS, "/new")
    assert made.startswith('[server]\nport = 1\ndata = "/new" # the big disk\n[local]\n')


def test_only_what_is_not_as_by_default_is_written() -> None:
    settings: dict[str, Any] = {
        "python": SlurmEngineConfig().python,
        "features": [],
        "account": "ml",
        "sandbox": "none",
    }
    assert section_of(SLURM, "a", {}, settings, 5) == {
        "name": "a",
        "kind": "slurm",
        "most_pending": 5,
        "account": "ml",
        "sandbox": "none",
    }


@pytest.mark.parametrize(
    ("engine", "data", "paths"),
    [
        (
            {"name": "a b", "kind": "slurm", "pools": ["x y"], "speed": 3},
            "here",
            {"engines.1.speed", "server.data", "engines.name", "engines.pools"},
        ),
        ({"name": "a", "kind": "slurm", "sandbox": "strong"}, "", {"engines.1.sandbox"}),
        ({"name": "local", "kind": "slurm"}, "", {"engines.name"}),
    ],
)
def test_all_problems_of_the_result_are_told_at_once(engine: dict[str, Any], data: str, paths: set[str]) -> None:
    with pytest.raises(InvalidSpec) as refused:
        with_engine("", engine, data)
    assert {problem.path for problem in refused.value.problems} == paths


def test_a_file_to_which_lines_cannot_be_added_is_left_to_its_writer() -> None:
    with pytest.raises(Conflict) as refused:
        with_engine('engines = [{name = "local"}]\n', ALPS, "/shared")
    assert 'name = "alps"' in refused.value.remedy
    with pytest.raises(InvalidSpec, match="not valid"):
        with_engine("[server\n", ALPS)


def test_a_file_is_replaced_whole_and_keeps_its_rights(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "config.toml"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    settings_file.write(str(link), "new\n")
    assert settings_file.read(str(link)) == "new\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert link.is_symlink()
    settings_file.write(str(tmp_path / "other.toml"), "x")
    assert stat.S_IMODE((tmp_path / "other.toml").stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["config.toml", "other.toml", "real.toml"]
