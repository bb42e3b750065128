"""A thing said is kept and sent as it was, and read in any language."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.messages import catalogue, render
from trainmaster.messages.catalogue import Count, Mib, Moment, Names, Seconds, say
from trainmaster.messages.cluster import queue
from trainmaster.messages.jobs import form
from trainmaster.messages.said import Said, said_from_json, verbatim
from trainmaster.messages.server import audit, requests

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.builds(Said, st.text(min_size=1), st.dictionaries(st.text(), inner, max_size=3))
    ),
    max_leaves=8,
)


@given(st.builds(Said, st.text(min_size=1), st.dictionaries(st.text(), VALUES, max_size=4)))
def test_it_comes_back_as_it_was_kept(said: Said) -> None:
    assert said_from_json(json.loads(json.dumps(said.to_json()))) == said


@pytest.mark.parametrize("kept", [{}, {"code": "x"}, {"code": "x", "args": None}, {"code": "x", "args": 5}])
def test_what_is_no_such_thing_is_refused(kept: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, AttributeError)):
        said_from_json(kept)


def test_words_of_others_are_left_as_they_are() -> None:
    text = "{braces} 50 % \N{PILE OF POO}"
    assert [render.text(verbatim(text), language) for language in ("en", "zh", "xx")] == [text] * 3
    assert render.remedy(verbatim(text)) == ""


def test_a_code_nobody_declared_is_shown() -> None:
    assert render.text(Said("from_a_later_version", {"n": 1}), "zh") == "from_a_later_version"
    assert render.remedy(Said("from_a_later_version")) == ""


def test_nor_is_it_missed_where_no_engine_was_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of a cluster has the agent's code and none of the engines'."""
    monkeypatch.setattr(render, "PACKAGES", ("trainmaster.engines.nowhere.messages", *render.PACKAGES))
    render._read_all.cache_clear()
    assert render.text(Said("unheard_of")) == "unheard_of"


def test_what_is_said_may_hold_what_was_said_elsewhere() -> None:
    said = requests.json_invalid(requests.nested_too_deeply())
    assert render.text(said) == "is not valid JSON: it is nested too deeply"
    assert render.text(said, "zh") == "不是合法的 JSON：嵌套过深"


def test_a_space_sets_off_a_name_and_no_chinese() -> None:
    """Between what is said and what was said elsewhere; a name stays as it is, even if it is Chinese."""
    told = [render.text(queue.behind(job), "zh") for job in (queue.job_named("big"), queue.another_users_job())]
    assert told == ["排在任务 big 之后：释放的资源先分配给它", "排在其他用户的任务之后：释放的资源先分配给它"]
    assert render.text(queue.job_named("大任务"), "zh") == "任务 大任务"


def test_a_whole_number_is_shown_whole_whatever_holds_it() -> None:
    assert [render.text(form.too_big(most)) for most in (31_622_400.0, 2**53 - 1, 0.25)] == [
        "This must be at most 31622400",
        "This must be at most 9007199254740991",
        "This must be at most 0.25",
    ]


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test declares is forgotten with it."""
    monkeypatch.setattr(catalogue, "ENTRIES", dict(catalogue.ENTRIES))
    monkeypatch.setattr(render, "ENTRIES", catalogue.ENTRIES)


@pytest.mark.usefixtures("entries")
def test_arguments_are_shown_as_what_they_are() -> None:
    @say("{n:GPU|GPUs}, {wait}, {size}, {at}, {who}, {other}", "{n} 张加速卡，{wait}，{size}，{at}，{who}，{other}")
    def shown_in_a_test(n: Count, wait: Seconds, size: Mib, at: Moment, who: Names, other: float | None) -> Said: ...

    said = shown_in_a_test(1, 5400, 2048, 0.0, ("ann", "bob"), other=0.5)
    assert render.text(said) == "1 GPU, 1h 30m, 2GiB, 1970-01-01 00:00 UTC, ann, bob, 0.5"
    assert render.text(said, "zh") == "1 张加速卡，1 小时 30 分，2GiB，1970-01-01 00:00 UTC，ann、bob，0.5"
    assert render.text(shown_in_a_test(12_000, 3.25, 1000, 60.0, [], None)) == (
        "12,000 GPUs, 3.2s, 1000MiB, 1970-01-01 00:01 UTC, none, none"
    )


@pytest.mark.usefixtures("entries")
def test_a_code_is_declared_once() -> None:
    with pytest.raises(ValueError, match="declared twice"):

        @say("again", "再次")
        def missing() -> Said: ...


@pytest.mark.usefixtures("entries")
def test_a_third_language_has_its_own_forms_of_a_noun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polish has three forms of a counted noun that a whole number takes; what is not translated is said in English."""
    monkeypatch.setattr(render, "LANGUAGES", [*render.LANGUAGES])

    @say("{n:file|files} left", "剩余 {n} 个文件", "Delete {n:file|files}.", "删除 {n} 个文件。")
    def left_in_a_test(n: Count) -> Said: ...

    render.add("pl", {"left_in_a_test": "zostało {n:plik|pliki|plików}"}, {})
    assert [render.text(left_in_a_test(n), "pl") for n in (1, 2, 5, 22)] == [
        "zostało 1 plik",
        "zostało 2 pliki",
        "zostało 5 plików",
        "zostało 22 pliki",
    ]
    assert render.remedy(left_in_a_test(2), "pl") == "Delete 2 files."
    assert render.LANGUAGES == ["en", "zh", "pl"]


def test_what_is_said_inside_one_another_for_ever_is_refused() -> None:
    """A task may have written it, and every reader would go as deep."""
    for wrap in (
        lambda inner: {"code": "x", "args": {"y": inner}},
        lambda inner: {"code": "x", "args": {"y": [[inner]]}},
    ):
        deep: Any = verbatim("at the bottom").to_json()
        for _ in range(100):
            deep = wrap(deep)
        with pytest.raises(ValueError, match="inside one another"):
            said_from_json(deep)
    lists: Any = []
    for _ in range(100):
        lists = [lists]
    with pytest.raises(ValueError, match="inside one another"):
        said_from_json({"code": "x", "args": {"y": lists}})


def test_a_role_is_said_in_the_language_of_the_text() -> None:
    """A Chinese text has the Chinese word of a role, without spaces around it; a role nobody knows stays as it is."""
    said = audit.member_changed("ann", "vision", "viewer", "owner")
    assert render.text(said, "zh") == "将 ann 在工作空间 vision 中的角色由访客改为所有者"
    assert render.text(said) == "Changed the role of ann in workspace vision from viewer to owner"
    assert render.text(audit.user_made("ann", "admin"), "zh") == "新建了用户 ann，角色为平台管理员"
    assert render.text(audit.user_made("ann", "user"), "zh") == "新建了用户 ann，角色为普通用户"
    assert render.text(audit.user_made("ann", "pilot"), "zh") == "新建了用户 ann，角色为 pilot"
