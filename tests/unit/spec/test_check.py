"""What `check` accepts, and every rule it refuses by: field path, code, and all problems at once (R21, R67-R91, D7,
D9).
"""

from typing import Any

import pytest

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.messages import render
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import said_from_json
from trainmaster.spec.check import ERROR_CODES, OWN_CODES, check
from trainmaster.spec.job import PATTERN_CODES
from trainmaster.spec.problems import problem


def job(**fields: Any) -> dict[str, Any]:
    """A job that is right, with `fields` changed; a field given as ... is left out."""
    document = {"name": "a", "roles": [role()], **fields}
    return {key: value for key, value in document.items() if value is not ...}


def role(**fields: Any) -> dict[str, Any]:
    """A role that is right, with `fields` changed."""
    return {
        key: value for key, value in {"name": "w", "command": "python train.py", **fields}.items() if value is not ...
    }


def one_role(**fields: Any) -> dict[str, Any]:
    return job(roles=[role(**fields)])


def problems(document: Any, **options: Any) -> tuple[Problem, ...]:
    """The problems of a document that must be refused."""
    with pytest.raises(InvalidSpec) as refused:
        check(document, **options)
    return refused.value.problems


def found(document: Any, **options: Any) -> set[tuple[str, str]]:
    return {(p.path, p.code) for p in problems(document, **options)}


def test_the_least_a_job_needs_and_the_defaults_it_gets() -> None:
    spec = check({"name": "digits", "command": "python train.py"})
    only = spec.roles[0]
    assert (only.name, only.replicas, only.command) == ("main", 1, "python train.py")
    asked = only.resources
    assert (asked.cpu, asked.memory, asked.gpu, asked.gpu_type, asked.shm) == (1.0, 1024, 0, None, 64)  # R78, R87
    assert (only.min_failed, only.min_succeeded, only.main) == (1, None, False)  # D2
    assert (spec.pool, spec.priority, spec.framework.kind, spec.image) == (
        "default",
        "normal",
        "single",
        "default",
    )  # R6


def test_units_are_read_and_kept_in_base_units() -> None:
    spec = check(one_role(resources={"memory": "2GiB", "shm": "64MiB", "cpu": 2}) | {"duration": "1h30m", "grace": 5})
    assert (spec.roles[0].resources.memory, spec.roles[0].resources.shm) == (2048, 64)
    assert (spec.duration, spec.grace) == (5400.0, 5.0)


def test_null_switches_a_failure_rule_off_and_absent_means_one() -> None:
    """D2."""
    assert check(one_role(min_failed=None)).roles[0].min_failed is None
    assert check(one_role()).roles[0].min_failed == 1


@pytest.mark.parametrize("name", ["a", "训练_手写-数字2", "A" * 30, "〇", "_-"])
def test_names_r21(name: str) -> None:
    assert check(job(name=name)).name == name


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("R21 too long", job(name="a" * 31), "name", "bad_name"),
    ("R21 space", job(name="a b"), "name", "bad_name"),
    ("R21 line end", job(name="a\n"), "name", "bad_name"),
    ("R21 empty", job(name=""), "name", "bad_name"),
    ("name missing", job(name=...), "name", "required"),
    ("name null", job(name=None), "name", "null_not_allowed"),
    ("name a number", job(name=5), "name", "not_text"),
    ("R67", job(slug="a/b"), "slug", "bad_slug"),
    ("R67 length", job(slug="a" * 256), "slug", "too_long"),
    ("D1 a slug like an id", job(slug="t" + "0" * 32), "slug", "slug_like_id"),
    ("description", job(description="x" * 4001), "description", "too_long"),
    ("description control", job(description="a\x00b"), "description", "control_characters"),
    ("surrogate", job(description="\ud800"), "description", "not_unicode"),
    ("R73 none", job(roles=[]), "roles", "empty"),
    ("R73 absent", job(roles=...), "roles", "required"),
    ("R73 not a list", job(roles={}), "roles", "not_list"),
    ("roles too many", job(roles=[role(name=f"r{i}") for i in range(65)]), "roles", "too_many"),
    ("R74", one_role(name="a b"), "roles.0.name", "bad_role_name"),
    ("R74 unique", job(roles=[role(), role()]), "roles.1.name", "duplicate_name"),
    ("R75 zero", one_role(replicas=0), "roles.0.replicas", "too_small"),
    ("R75 text", one_role(replicas="2"), "roles.0.replicas", "number_as_text"),
    ("R75 fraction", one_role(replicas=1.5), "roles.0.replicas", "not_integer"),
    ("R75 true", one_role(replicas=True), "roles.0.replicas", "not_integer"),
    ("R132, D9 too many", one_role(replicas=5000), "roles.0.replicas", "too_big"),
    ("D9 huge", one_role(replicas=10**40), "roles.0.replicas", "too_big"),
    ("tasks in all", job(roles=[role(name=f"r{i}", replicas=4096) for i in range(2)]), "roles", "too_many_tasks"),
    ("R76", one_role(resources={"cpu": 0}), "roles.0.resources.cpu", "too_small"),
    ("R76 nan", one_role(resources={"cpu": float("nan")}), "roles.0.resources.cpu", "not_finite"),
    ("R77", one_role(resources={"memory": "lots"}), "roles.0.resources.memory", "bad_memory"),
    ("R77 small", one_role(resources={"memory": 1}), "roles.0.resources.memory", "too_small"),
    ("R77 null", one_role(resources={"memory": None}), "roles.0.resources.memory", "null_not_allowed"),
    ("R78", one_role(resources={"shm": -1}), "roles.0.resources.shm", "too_small"),
    ("R78 over memory", one_role(resources={"memory": 256, "shm": 257}), "roles.0.resources.shm", "shm_over_memory"),
    ("R79", one_role(resources={"gpu": -1}), "roles.0.resources.gpu", "too_small"),
    ("R87", one_role(resources={"gpu_type": "a b"}), "roles.0.resources.gpu_type", "bad_word"),
    ("R81", one_role(ports=[{"label": "a b"}]), "roles.0.ports.0.label", "bad_role_name"),
    ("R81 absent", one_role(ports=[{}]), "roles.0.ports.0.label", "required"),
    ("R81 twice", one_role(ports=[{"label": "a"}, {"label": "a"}]), "roles.0.ports.1.label", "duplicate_name"),
    (
        "R82 the system's",
        one_role(ports=[{"label": "a", "begin_at": 1023}]),
        "roles.0.ports.0.begin_at",
        "port_reserved",
    ),
    ("R82", one_role(ports=[{"label": "a", "begin_at": 65536}]), "roles.0.ports.0.begin_at", "too_big"),
    (
        "R82 end",
        one_role(ports=[{"label": "a", "begin_at": 65535, "count": 2}]),
        "roles.0.ports.0.begin_at",
        "port_range",
    ),
    (
        "D7 overlap",
        one_role(ports=[{"label": "a", "begin_at": 8000, "count": 3}, {"label": "b", "begin_at": 8002}]),
        "roles.0.ports.1.begin_at",
        "port_overlap",
    ),
    ("R83", one_role(ports=[{"label": "a", "count": 0}]), "roles.0.ports.0.count", "too_small"),
    ("R84 empty", one_role(command=""), "roles.0.command", "command_empty"),
    ("R84 blank", one_role(command="  \n"), "roles.0.command", "command_empty"),
    ("R84 absent", one_role(command=...), "roles.0.command", "required"),
    ("R84 no words", one_role(command=[]), "roles.0.command", "command_empty"),
    ("R84 a number", one_role(command=["a", 1]), "roles.0.command", "not_text"),
    ("R85", one_role(min_failed=0), "roles.0.min_failed", "too_small"),
    ("R85 above", one_role(min_failed=2), "roles.0.min_failed", "over_replicas"),
    ("R86", one_role(min_succeeded=0), "roles.0.min_succeeded", "too_small"),
    ("R86 above", one_role(replicas=2, min_succeeded=3), "roles.0.min_succeeded", "over_replicas"),
    ("R136 two", job(roles=[role(main=True), role(name="v", main=True)]), "roles.1.main", "several_main"),
    ("R88", job(retries=-1), "retries", "too_small"),
    ("R89 platform", job(env={"PAI_JOB_NAME": "x"}), "env.PAI_JOB_NAME", "reserved_env"),
    ("R89 role", one_role(env={"CUDA_VISIBLE_DEVICES": "0"}), "roles.0.env.CUDA_VISIBLE_DEVICES", "reserved_env"),
    ("R112 owned", job(framework="pytorch", env={"MASTER_PORT": "1"}), "env.MASTER_PORT", "reserved_env"),
    ("env name", job(env={"A-B": "x"}), "env.A-B", "bad_env_name"),
    ("env null", job(env={"A": None}), "env.A", "null_not_allowed"),
    ("env list", job(env={"A": []}), "env.A", "not_scalar"),
    ("env control", job(env={"A": "x\x00"}), "env.A", "control_characters"),
    ("env large", job(env={f"A{i}": "x" * 32768 for i in range(5)}), "env", "too_large"),
    ("R40 dashes", one_role(parameters={"--lr": 1}), "roles.0.parameters.--lr", "bad_parameter"),
    ("R40 list", one_role(parameters={"lr": [1]}), "roles.0.parameters.lr", "not_scalar"),
    ("R40 nan", one_role(parameters={"lr": float("inf")}), "roles.0.parameters.lr", "not_finite"),
    ("R40 control", one_role(parameters={"lr": "a\x1b"}), "roles.0.parameters.lr", "control_characters"),
    ("R91 kind", job(extras={"a": {1, 2}}), "extras.a", "not_json"),
    (
        "R91 depth",
        job(extras={"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}),
        "*",
        "too_deep",
    ),
    ("R91 size", job(extras={"a": "x" * 300_000}), "extras", "too_large"),
    ("R91 a list", job(extras=[]), "extras", "not_object"),
    ("R116", job(framework="horovod2"), "framework.kind", "unknown_framework"),
    ("option", job(framework={"kind": "pytorch", "nodes": 2}), "framework.nodes", "unknown_option"),
    (
        "option of another",
        job(framework={"kind": "single", "processes_per_node": 2}),
        "framework.processes_per_node",
        "unknown_option",
    ),
    (
        "option bound",
        job(framework={"kind": "pytorch", "processes_per_node": 0}),
        "framework.processes_per_node",
        "too_small",
    ),
    (
        "option kind",
        job(framework={"kind": "pytorch", "processes_per_node": "2"}),
        "framework.processes_per_node",
        "not_integer",
    ),
    ("priority", job(priority="high"), "priority", "not_one_of"),
    ("pool", job(pool="a b"), "pool", "bad_word"),
    ("image", job(image="a b"), "image", "bad_image"),
    ("pull secret", job(pull_secret="user:word"), "pull_secret", "bad_word"),
    ("code both", job(code={"path": ".", "upload": "sha256:" + "0" * 64}), "code", "bad_code"),
    ("code none", job(code={}), "code", "bad_code"),
    ("code digest", job(code={"upload": "sha256:1"}), "code.upload", "bad_digest"),
    ("R191", job(duration="soon"), "duration", "bad_duration"),
    ("R191 zero", job(duration=0), "duration", "too_small"),
    ("R191 true", job(duration=True), "duration", "bad_duration"),
    ("R47 relative", job(inputs=[{"name": "d", "path": "data"}]), "inputs.0.path", "mount_not_absolute"),
    ("R47 dots", job(inputs=[{"name": "d", "path": "/data/../etc"}]), "inputs.0.path", "mount_not_absolute"),
    ("reserved", job(inputs=[{"name": "d", "path": "/d", "mount": "/usr/lib/x"}]), "inputs.0.mount", "mount_reserved"),
    ("root", job(inputs=[{"name": "d", "path": "/d", "mount": "/"}]), "inputs.0.mount", "mount_hides"),
    ("R138 outputs", job(inputs=[{"name": "d", "path": "/d", "mount": "/workspace"}]), "inputs.0.mount", "mount_hides"),
    ("R138 slash", job(inputs=[{"name": "d", "path": "/d", "mount": "/workspace/"}]), "inputs.0.mount", "mount_hides"),
    (
        "R138 dots",
        job(inputs=[{"name": "d", "path": "/d", "mount": "/x/../workspace"}]),
        "inputs.0.mount",
        "mount_not_absolute",
    ),
    (
        "in outputs",
        job(inputs=[{"name": "d", "path": "/d", "mount": "/workspace/outputs/x"}]),
        "inputs.0.mount",
        "mount_reserved",
    ),
    ("in code", job(inputs=[{"name": "d", "path": "/d", "mount": "/code/a/b"}]), "inputs.0.mount", "mount_reserved"),
    ("libraries", job(inputs=[{"name": "d", "path": "/d", "mount": "/libx32"}]), "inputs.0.mount", "mount_reserved"),
    ("ours", job(inputs=[{"name": "d", "path": "/d", "mount": "/model"}]), "inputs.0.mount", "mount_reserved"),
    (
        "two at one place",
        job(inputs=[{"name": "d", "path": "/d"}, {"name": "e", "path": "/e", "mount": "/dataset/x"}]),
        "inputs.1.mount",
        "mount_twice",
    ),
    (
        "same name",
        job(inputs=[{"name": "d", "path": "/d"}, {"name": "d", "path": "/e", "mount": "/x"}]),
        "inputs.1.name",
        "duplicate_name",
    ),
    ("metric", job(metrics=[{"pattern": "("}]), "metrics.0.pattern", "bad_regex"),
    ("metric groups", job(metrics=[{"pattern": "loss=(.*)"}]), "metrics.0.pattern", "regex_groups"),
    ("metric slow", job(metrics=[{"pattern": "(?P<a>(x+)+)y"}]), "metrics.0.pattern", "regex_slow"),
    ("metric branch", job(metrics=[{"pattern": "(?:a|(?P<a>b*))*"}]), "metrics.0.pattern", "regex_slow"),
    ("metric long", job(metrics=[{"pattern": "x" * 501}]), "metrics.0.pattern", "too_long"),
    ("progress", job(progress={"of": "epochs"}), "progress.of", "progress_parameter"),
    (
        "progress number",
        one_role(parameters={"epochs": "all"}) | {"progress": {"of": "epochs"}},
        "progress.of",
        "progress_number",
    ),
    ("progress zero", job(progress={"of": 0}), "progress.of", "too_small"),
    ("unknown", job(colour=2), "colour", "unknown_key"),
    ("near", job(rolse=[]), "rolse", "unknown_key_near"),
    ("near below", one_role(resources={"gpus": 1}), "roles.0.resources.gpus", "unknown_key_near"),
    ("camel case", one_role(minFailed=1), "roles.0.minFailed", "unknown_key_near"),
    ("shorthand and roles", job(command="x"), "command", "shorthand_mixed"),
]


@pytest.mark.parametrize(
    ("document", "path", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_every_rule_names_field_rule_and_remedy(document: dict[str, Any], path: str, code: str) -> None:
    refused = problems(document)
    hit = [p for p in refused if p.code == code and path in (p.path, "*")]
    assert hit, refused
    assert hit[0].rule
    assert hit[0].remedy
    assert "{" not in hit[0].rule.replace("{name: value}", "")
    assert len(refused) == 1, "one mistake, one problem"


def test_all_problems_at_once_across_structure_and_meaning() -> None:
    """B8: what is wrong in one field does not hide what is wrong in another, nor between others."""
    document = job(
        name="a b",
        priority="high",
        env={"PAI_X": "1"},
        inputs=[{"name": "d", "path": "/d", "mount": "/usr"}],
        roles=[
            role(replicas="2", command="A=1 python x.py && python y.py"),
            role(name="v", min_failed=3, resources={"gpu": -1}),
            role(name="v", command='python "x'),
        ],
    )
    assert found(document) == {
        ("name", "bad_name"),
        ("priority", "not_one_of"),
        ("env.PAI_X", "reserved_env"),
        ("inputs.0.mount", "mount_reserved"),
        ("roles.0.replicas", "number_as_text"),
        ("roles.0.command", "command_assignment"),
        ("roles.0.command", "command_statements"),
        ("roles.1.min_failed", "over_replicas"),
        ("roles.1.resources.gpu", "too_small"),
        ("roles.2.name", "duplicate_name"),
        ("roles.2.command", "command_quote"),
    }


def test_a_bad_field_is_not_reported_twice_by_what_stands_in_for_it() -> None:
    assert found(job(roles=[role(name=5), role(name=6)])) == {
        ("roles.0.name", "not_text"),
        ("roles.1.name", "not_text"),
    }


def test_the_shorthand_of_one_role_is_reported_where_it_was_written() -> None:
    document = {"name": "a", "command": "x; y", "resources": {"cpu": "2"}, "replicas": 2, "min_succeeded": 3}
    assert found(document) == {
        ("command", "command_statements"),
        ("resources.cpu", "number_as_text"),
        ("min_succeeded", "over_replicas"),
    }


def test_fixed_ports_need_a_host_for_every_task() -> None:
    """D7: refused at submit, with the rule named, where the hosts are known; several hosts can hold it."""
    document = one_role(replicas=2, ports=[{"label": "http", "begin_at": 8000}])
    assert found(document, hosts=1) == {("roles.0.ports.0.begin_at", "port_fixed")}
    said = "2 replicas ask for the fixed port 8000, but the nodes have only 1 address"
    assert problems(document, hosts=1)[0].rule == said
    assert check(document, hosts=2)
    assert check(document)
    two = job(
        roles=[
            role(ports=[{"label": "a", "begin_at": 8000, "count": 5}]),
            role(name="v", ports=[{"label": "a", "begin_at": 8004}]),
        ]
    )
    assert found(two, hosts=1) == {("roles.1.ports.0.begin_at", "port_fixed")}


def test_values_of_variables_never_come_back_in_problems() -> None:
    """B12: a secret in a wrong variable is not printed into answers and logs."""
    refused = problems(job(env={"A-B": "s3cret", "TOKEN": "s3cret\x00"}))
    assert "s3cret" not in str([p.to_json() for p in refused])


def test_a_remedy_names_the_field_that_was_meant() -> None:
    assert "roles" in problems(job(rolse=1))[0].remedy
    assert "gpu" in problems(one_role(resources={"gpuNumber": 1, "gpus": 1}))[1].remedy


@pytest.mark.parametrize("document", [None, [], "x", 5])
def test_only_objects_are_documents(document: Any) -> None:
    assert found(document) == {("", "not_object")}


def test_every_code_has_words_and_both_languages_are_filled_from_the_same_arguments() -> None:
    for code in {*ERROR_CODES.values(), *PATTERN_CODES.values(), *OWN_CODES}:
        assert render.has_words(code), code
    refused = problems(job(roles=[role(name=f"r{i}", replicas=4096) for i in range(2)]))[0]
    assert refused.args is not None
    said = said_from_json({"code": refused.code, "args": refused.args})
    rule, remedy = render.text(said, "zh"), render.remedy(said, "zh")
    assert "8192" in rule
    assert "4096" in rule
    assert remedy
    assert "8,192" in refused.rule


def test_long_values_and_long_lists_of_names_are_cut() -> None:
    cut = problem("x" * 500, rules.unknown_node("p" * 500, "n", [f"node-{i:04}" for i in range(4096)]), "v" * 500)
    assert cut.args is not None
    assert [len(text) for text in (cut.path, cut.value, cut.args["pool"])] == [121] * 3
    assert cut.args["known"][-1] == "…"
    assert len(cut.remedy) < 200
    alone = problem("x", rules.unknown_node("p", "n", ["n" * 500]))
    assert alone.args == {"pool": "p", "name": "n", "known": ["n" * 120 + "…"]}


def test_size_of_the_answer_is_bounded() -> None:
    assert len(problems(job(env={f"A-{i}": "x" for i in range(400)}))) == 200
