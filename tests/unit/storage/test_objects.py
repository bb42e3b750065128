"""Object storage against a real server of it, `rclone serve s3` (R16, R146): what is refused, in which words, and that
what is fetched is what is there.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.fixtures.stores import REACH, Store, served
from trainmaster.core.config import StorageConfig
from trainmaster.core.folders.layout import Layout
from trainmaster.storage.objects.bucket import StoredObject, StoreTarget, open_bucket
from trainmaster.storage.objects.fetching import Fetch, FetchPlan, plan_of, sweep_objects
from trainmaster.storage.objects.reaching import Reach, StoreFailed
from trainmaster.storage.trees import remove_tree


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with served(tmp_path_factory.mktemp("store") / "s3") as one:
        yield one


@pytest.fixture
def layout(tmp_path: Path) -> Iterator[Layout]:
    yield Layout(str(tmp_path))
    remove_tree(str(tmp_path / "fetched"))


def why(act: Callable[[], Any]) -> tuple[str, bool]:
    """Return what an act fails for: its code, and whether it lasts."""
    with pytest.raises(StoreFailed) as failed:
        act()
    return failed.value.said.code, failed.value.lasting


def plan(store: Store, path: str, most_mib: int = 0, reach: Reach = REACH, **changed: str) -> FetchPlan:
    return plan_of(open_bucket(store.target(**changed), reach), "lab", path, f"data/{path}", most_mib)


def fetched(layout: Layout, store: Store, what: FetchPlan, **given: Any) -> dict[str, bytes]:
    """Fetch a plan; return what is there, by path."""
    folder = Path(Fetch(layout, what, lambda: None, **given).run(open_bucket(store.target(), REACH)))
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"secret": "another-secret-altogether"}, "store_key_wrong"),
        ({"key_id": "AKIDNOBODYHASTHIS000"}, "store_key_unknown"),
        ({"bucket": "elsewhere"}, "store_no_bucket"),
        ({"endpoint": "http://127.0.0.1:1"}, "store_not_reachable"),
        ({"endpoint": "http://nowhere.invalid"}, "store_host_unknown"),
    ],
)
def test_what_is_wrong_with_a_connection_is_told_in_words(store: Store, changed: dict[str, str], code: str) -> None:
    target = replace(store.target(), **changed)
    assert why(lambda: list(open_bucket(target, REACH).listed("")))[0] == code
    assert store.target().secret not in repr(target)


def test_what_is_fetched_is_what_is_there(store: Store, layout: Layout) -> None:
    """A prefix as a folder, one object alone, what is large, what is empty; nobody can write in it."""
    large = os.urandom(3_000_000)
    store.put("first/a.txt", "hello")
    store.put("first/deep/er/中文 name+&=.bin", large)
    store.put("first/empty", "")
    store.put("firstly", "is not of it")
    what = plan(store, "first")
    assert (what.listing.files, what.size_bytes) == (3, 3_000_005)
    assert fetched(layout, store, what) == {"a.txt": b"hello", "deep/er/中文 name+&=.bin": large, "empty": b""}
    folder = Path(layout.fetched, what.key)
    assert {path.stat().st_mode & 0o222 for path in (folder, *folder.rglob("*"))} == {0}
    assert fetched(layout, store, plan(store, "first/a.txt")) == {"a.txt": b"hello"}
    assert why(lambda: plan(store, "second")) == ("store_nothing_there", True)
    assert why(lambda: plan(store, "first", most_mib=2)) == ("store_too_much", True)


def test_a_thousand_objects_come_by_pages(store: Store, layout: Layout) -> None:
    for n in range(1100):
        store.put(f"many/{n % 7}/{n}", str(n))
    found = fetched(layout, store, plan(store, "many"))
    assert found == {f"{n % 7}/{n}": str(n).encode() for n in range(1100)}


def test_an_object_that_was_fetched_once_is_not_fetched_again(store: Store, layout: Layout) -> None:
    """Also where another one came: and another key, or another workspace, is given nothing of it."""
    store.put("twice/a", "one")
    first = plan(store, "twice")
    fetched(layout, store, first)
    store.put("twice/b", "two")
    second = plan(store, "twice")
    assert first.key != second.key
    assert Fetch(layout, second, lambda: None).missing_bytes() == 3
    bucket = open_bucket(store.target(), REACH)
    assert Fetch(layout, plan_of(bucket, "other", "twice", "", 0), lambda: None).missing_bytes() == 6


def test_what_no_folder_has_is_swept(store: Store, layout: Layout) -> None:
    store.put("swept/a", "one")
    what = plan(store, "swept")
    fetched(layout, store, what)
    [kept] = [path for path in Path(layout.fetched, ".objects").rglob("*") if path.is_file()]
    sweep_objects(layout.fetched, 2.0**40)
    assert kept.exists()
    remove_tree(os.path.join(layout.fetched, what.key))
    sweep_objects(layout.fetched, 2.0**40, keep=what.objects)
    assert kept.exists()
    sweep_objects(layout.fetched, 2.0**40)
    assert not kept.exists()


# -- a store that does what it should not --------------------------------------------------------------------------


class Shelf:
    """A bucket in memory. `cuts`: after how many bytes each of the next answers ends."""

    def __init__(self, target: StoreTarget, objects: dict[str, bytes], etags: dict[str, str] | None = None) -> None:
        self.target, self.objects, self.cuts, self.asked = target, objects, list[int](), list[int]()
        self.etags = etags or {}

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        for key in sorted(self.objects):
            if key.startswith(prefix):
                yield self._one(key)

    def find(self, key: str) -> StoredObject | None:
        return self._one(key) if key in self.objects else None

    def _one(self, key: str) -> StoredObject:
        etag = self.etags.get(key, hashlib.md5(self.objects[key]).hexdigest())
        return StoredObject(key, len(self.objects[key]), etag)

    def read(self, one: StoredObject, offset: int = 0) -> Any:
        self.asked.append(offset)
        cut = self.cuts.pop(0) if self.cuts else None
        content = self.objects[one.key][offset:][:cut]

        class Answer:
            hashed = True

            def blocks(self) -> Iterator[bytes]:
                for at in range(0, len(content), 1000):
                    yield content[at : at + 1000]

        answer = Answer()
        answer.offset = offset  # type: ignore[attr-defined]
        return answer


def on_shelf(objects: dict[str, bytes], etags: dict[str, str] | None = None) -> Shelf:
    return Shelf(StoreTarget("http://x", "", "training", "", "AKID", "s"), objects, etags)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (["../x"], "path_not_plain"),
        (["a//b"], "path_not_plain"),
        (["./a"], "path_not_plain"),
        (["a/../b"], "path_not_plain"),
        (["/etc/passwd"], "path_not_plain"),
        (["a", "a/b"], "beneath_a_file"),
        (["A", "a"], "names_collide"),
        (["caf\u00e9", "cafe\u0301"], "names_collide"),
        (["a\nb"], "name_with_control_characters"),
        (["x" * 300], "path_too_long"),
    ],
)
def test_keys_that_can_be_no_files_are_refused_with_the_first_of_them(keys: list[str], told: str) -> None:
    bucket: Any = on_shelf({f"odd/{key}": b"x" for key in keys})
    with pytest.raises(StoreFailed) as failed:
        plan_of(bucket, "lab", "odd", "data/odd", 0)
    assert failed.value.said.code == "store_names_not_usable"
    assert failed.value.said.args["why"].code == told


def test_marks_of_folders_are_folders(layout: Layout) -> None:
    """Consoles of stores make an empty object that ends in /; beside a file of that name it means nothing."""
    bucket: Any = on_shelf(
        {"odd/": b"", "odd/a/": b"", "odd/a": b"file", "odd/e/": b"", "odd/f/": b"", "odd/f/x": b"y"}
    )
    what = plan_of(bucket, "lab", "odd", "data/odd", 0)
    folder = Path(Fetch(layout, what, lambda: None).run(bucket))
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == ["a", "e", "f", "f/x"]
    assert why(lambda: plan_of(on_shelf({"odd/a/": b"data"}), "lab", "odd", "", 0))[0] == "store_names_not_usable"  # type: ignore[arg-type]


def test_an_answer_that_breaks_off_is_gone_on_from_where_it_was(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainmaster.storage.objects.fetching.PAUSE_S", 0.0)
    content = os.urandom(10_000)
    bucket: Any = on_shelf({"cut/a": content})
    bucket.cuts = [4_000, 0, 3_000]
    what = plan_of(bucket, "lab", "cut", "", 0)
    folder = Path(Fetch(layout, what, lambda: None).run(bucket))
    assert (folder / "a").read_bytes() == content
    assert bucket.asked == [0, 4_000, 4_000, 7_000]


def test_a_fetch_that_was_ended_goes_on_with_what_is_there(layout: Layout) -> None:
    content = os.urandom(10_000)
    bucket: Any = on_shelf({"cut/a": content, "cut/b": b"small"})
    what = plan_of(bucket, "lab", "cut", "", 0)
    bucket.cuts = [4_000] * 1000
    with pytest.raises(StoreFailed):
        Fetch(layout, what, lambda: None, patience_s=-1.0).run(bucket)
    assert not os.path.exists(os.path.join(layout.fetched, what.key))
    bucket.cuts, bucket.asked = [], []
    folder = Path(Fetch(layout, what, lambda: None).run(bucket))
    assert (folder / "a").read_bytes() == content
    assert 4_000 in bucket.asked


def test_content_that_is_not_what_was_listed_is_never_given(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its ETag where that is an MD5, by its size always; once more, then it is told."""
    bucket: Any = on_shelf({"bad/a": b"hello"}, {"bad/a": "0" * 32})
    what = plan_of(bucket, "lab", "bad", "", 0)
    assert why(lambda: Fetch(layout, what, lambda: None).run(bucket)) == ("store_content_differs", True)
    assert bucket.asked == [0, 0]
    assert not any(path.is_file() for path in Path(layout.fetched, ".objects").rglob("*"))
    longer: Any = on_shelf({"bad/a": b"hello"}, {"bad/a": "0" * 32 + "-2"})
    what = plan_of(longer, "lab", "bad", "", 0)
    longer.objects["bad/a"] = b"hello and more"
    assert why(lambda: Fetch(layout, what, lambda: None).run(longer))[0] == "store_content_differs"


def test_a_real_object_that_changed_since_it_was_listed_is_refused(store: Store, layout: Layout) -> None:
    store.put("changing/a", "before it")
    what = plan(store, "changing")
    store.put("changing/a", "afterward")
    assert why(lambda: fetched(layout, store, what)) == ("store_changed_meanwhile", True)


def test_a_server_that_dies_half_way_is_asked_again_until_it_is_back(store: Store, layout: Layout) -> None:
    content = os.urandom(4_000_000)
    store.put("dying/a", content)
    what = plan(store, "dying")
    back = threading.Timer(1.0, store.start)
    seen = 0

    def go_on() -> None:
        nonlocal seen
        seen += 1
        if seen == 5:  # some blocks are here
            store.kill()
            back.start()

    folder = Path(Fetch(layout, what, lambda: None).run(open_bucket(store.target(), REACH, go_on)))
    back.join()
    assert seen > 5
    assert (folder / "a").read_bytes() == content


def test_nobody_goes_on_with_what_nobody_wants(store: Store, layout: Layout) -> None:
    store.put("unwanted/a", os.urandom(1_000_000))
    what = plan(store, "unwanted")

    def enough() -> None:
        raise KeyError("nobody wants it")

    with pytest.raises(KeyError):
        Fetch(layout, what, enough).run(open_bucket(store.target(), REACH))


# -- where we connect to -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.9", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:169.254.169.254"),
        *("64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "::169.254.169.254", "224.0.0.1", "not an address"),
    ],
)
def test_addresses_that_are_not_public_are_refused_unless_they_are_allowed(address: str) -> None:
    """R16: no name that leads there is connected to, and the refusal names both, and the setting."""
    reach = Reach(StorageConfig(), lambda host, port: ["93.184.216.34", address])
    with pytest.raises(StoreFailed) as failed:
        reach.connect("store.example.org", 443)
    assert failed.value.said.code == "store_address_refused"
    assert failed.value.said.args == {"host": "store.example.org", "address": address}


def test_a_network_is_allowed_as_such_and_a_host_by_its_name() -> None:
    answers = {"minio.lan": ["10.0.0.5"], "other.lan": ["10.0.0.6"], "cloud.lan": ["169.254.169.254"]}
    by_network = Reach(StorageConfig(allow=("10.0.0.0/24",)), lambda host, port: answers[host])
    assert by_network.addresses("other.lan", 9000) == ["10.0.0.6"]
    by_name = Reach(StorageConfig(allow=("MinIO.lan", "cloud.lan")), lambda host, port: answers[host])
    assert by_name.addresses("minio.lan", 9000) == ["10.0.0.5"]
    assert why(lambda: by_name.addresses("other.lan", 9000))[0] == "store_address_refused"
    assert why(lambda: by_name.addresses("cloud.lan", 80))[0] == "store_address_refused"  # of the link: never by name
    assert (by_name.private("minio.lan", 80), by_name.private("other.lan", 80)) == (True, False)
    assert (by_network.private("other.lan", 80), by_network.private("cloud.lan", 80)) == (True, False)


def test_a_name_that_is_another_address_a_moment_later_gains_nothing(store: Store) -> None:
    """DNS rebinding: each connection asks once, and goes to what was judged."""
    turns = [["127.0.0.1"], ["127.0.0.1"], ["169.254.169.254"]]
    reach = Reach(StorageConfig(allow=("127.0.0.0/8",)), lambda host, port: turns.pop(0))
    target = replace(store.target(), endpoint=f"http://store.example.org:{store.port}")
    bucket = open_bucket(target, reach)
    assert bucket.find("nothing") is None
    bucket._client._http.clear()  # the connection is closed
    assert bucket.find("nothing") is None
    bucket._client._http.clear()
    assert why(lambda: bucket.find("nothing")) == ("store_address_refused", True)


@pytest.mark.parametrize(
    ("endpoint", "region", "url"),
    [
        ("https://minio.lan:9000", "", "https://minio.lan:9000/training/a%20b"),
        ("https://obs.cn-north-4.myhuaweicloud.com", "", "https://obs.cn-north-4.myhuaweicloud.com/training/a%20b"),
        ("https://oss-cn-beijing.aliyuncs.com", "", "https://training.oss-cn-beijing.aliyuncs.com/a%20b"),
        ("https://s3.eu-west-3.amazonaws.com", "", "https://training.s3.dualstack.eu-west-3.amazonaws.com/a%20b"),
        ("https://s3.amazonaws.com", "eu-west-3", "https://training.s3.dualstack.eu-west-3.amazonaws.com/a%20b"),
    ],
)
def test_a_store_is_asked_at_its_endpoint_in_its_own_manner(
    endpoint: str, region: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some want the bucket in the path, others in the host; no other host is asked, whatever is made of it."""
    asked: list[str] = []
    monkeypatch.setattr(urllib3.PoolManager, "urlopen", lambda self, method, url, **given: asked.append(url))
    bucket = open_bucket(StoreTarget(endpoint, region, "training", "", "AKID0000", "s" * 20), REACH)
    with pytest.raises(AttributeError):  # nothing is answered
        bucket.find("a b")
    assert [one.partition("?")[0] for one in asked] == [url]
    assert why(lambda: bucket._client._http.urlopen("GET", "https://evil.example.org/")) == ("store_redirected", True)


def _error(status: int, code: str, header: str = "") -> str:
    head = f"HTTP/1.1 {status} No\r\ncontent-type: application/xml\r\n{header}connection: close\r\n\r\n"
    return f"{head}<Error><Code>{code}</Code></Error>"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    away = f"HTTP/1.1 {status} Away\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\n\r\n"
    assert _answered(away) == ("store_redirected", True)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>", "store_not_s3"),
        ("HTTP/1.1 404 No\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nno", "store_not_s3"),
        ("HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n", "store_busy"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n<x>", "store_broke_off"),
        ("hello\r\n\r\n", "store_broke_off"),
        (_error(403, "RequestTimeTooSkewed"), "store_clock_skew"),
        (_error(301, "PermanentRedirect", "x-amz-bucket-region: eu-west-3\r\n"), "store_other_region"),
        (_error(403, "AccessDenied"), "store_access_denied"),
    ],
)
def test_whatever_answers_is_told_in_words(answer: str, code: str) -> None:
    assert _answered(answer)[0] == code


def _answered(text: str) -> tuple[str, bool]:
    """Return what comes of a server that answers this."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(text.encode())

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        target = StoreTarget(f"http://127.0.0.1:{server.getsockname()[1]}", "", "training", "", "AKID0000", "s" * 20)
        found = why(lambda: list(open_bucket(target, REACH).listed("")))
        thread.join()
    return found
