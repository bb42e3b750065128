"""The command rules: R118-R120, and the difference between what a shell would do and what a program is given."""

import pytest

from trainmaster.spec.commands import OPERATORS, command_problems
from trainmaster.spec.problems import problem

ACCEPTED = [
    "python train.py",
    "python /workspace/algorithm/train.py --output res.json",
    "sleep infinity",
    'bash -c "KEY=VALUE python3 train.py && python3 evaluate.py"',
    "bash -c 'a | b > c; d & $(e) `f`'",
    "torchrun \\\n  --nnodes ${WORLD_SIZE} \\\n  --nproc_per_node ${SLOTS} \\\n  train.py",
    "python train.py --lr=0.1 --url='http://h/?a=1&b=2'",
    "python train.py --name=$PAI_JOB_NAME --host=${PAI_HOST_IP_a.b_0}",
    "python train.py --glob=*.txt --home=~ --tag='a b' #1",
    "python train.py --note=\\;",
    "训练 --名=值",
    "  python train.py\n",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted(text: str) -> None:
    assert list(command_problems(text, "command")) == []


REFUSED = [
    ("KEY=VALUE python3 train.py", ["command_assignment"]),
    ("_A1=x python3 train.py", ["command_assignment"]),
    ("python3 train.py && python3 evaluate.py", ["command_statements"]),
    ("python3 train.py;python3 evaluate.py", ["command_statements"]),
    ("python3 train.py || true", ["command_statements"]),
    ("python3 train.py &", ["command_statements"]),
    ("cd /code\npython3 train.py", ["command_statements"]),
    ("cat a | wc", ["command_pipe"]),
    ("python3 train.py > log", ["command_redirect"]),
    ("python3 train.py 2>&1", ["command_redirect"]),
    ("python3 train.py < in", ["command_redirect"]),
    ("python3 train.py --host=$(hostname)", ["command_substitution"]),
    ("python3 train.py --host=`hostname`", ["command_substitution"]),
    ('python3 "train.py', ["command_quote"]),
    ("python3 'train.py", ["command_quote"]),
    ("python3 train.py \\", ["command_escape"]),
    ("'' x", ["command_empty"]),
    ("", ["command_empty"]),
    ("python \x00", ["control_characters"]),
    ("python \ud800", ["not_unicode"]),
    ("x " * 40000, ["too_long"]),
    ("A=1 b && c | d > e", ["command_assignment", "command_statements", "command_pipe", "command_redirect"]),
]


@pytest.mark.parametrize(("text", "codes"), REFUSED)
def test_refused_with_the_hint(text: str, codes: list[str]) -> None:
    refused = list(command_problems(text, "command"))
    assert [p.code for p in refused] == codes
    shell = {"command_statements", "command_pipe", "command_redirect", "command_substitution", "command_assignment"}
    assert all('bash -c "' in p.remedy for p in refused if p.code in shell)


def test_a_list_of_words_is_judged_word_by_word() -> None:
    assert list(command_problems(("bash", "-c", "a && b | c"), "command")) == []
    assert [p.code for p in command_problems(("A=1", "x"), "command")] == ["command_assignment"]
    assert [p.path for p in command_problems(("x", "a\x00"), "command")] == ["command.1"]
    assert [p.code for p in command_problems(("",), "command")] == ["command_empty"]


def test_every_operator_has_a_problem_with_texts() -> None:
    for operator, said in OPERATORS.items():
        assert operator in problem("x", said(operator)).rule
