"""To which addresses a webhook may go, and what is sent there: judged at connect, bounded, signed."""

import asyncio

import pytest

from tests.fixtures.receivers import hooks
from trainmaster.core.config import WebhooksConfig
from trainmaster.service.notices.addresses import AddressGuard, NotSent, problems_of, target_of
from trainmaster.service.notices.posting import Poster
from trainmaster.service.notices.signing import secret_of, signature

REFUSED = [
    "127.0.0.1", "127.9.9.9", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "fe80::1",
    "fe80::1%eth0",
    "fc00::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255", "100.64.0.1", "198.18.0.1", "240.0.0.1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "2002:0a00:0001::1",
    "::10.0.0.1",
    "not an address",
]  # fmt: skip


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_public_is_refused(address: str) -> None:
    assert not AddressGuard(()).permits(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"])
def test_what_is_public_is_permitted(address: str) -> None:
    assert AddressGuard(()).permits(address)


def test_what_the_administrator_allows_is_permitted_and_nothing_else() -> None:
    guard = AddressGuard(("10.1.0.0/16", "fd00::/8"))
    assert [guard.permits(one) for one in ("10.1.2.3", "10.2.0.1", "fd12::1", "::ffff:10.1.2.3", "127.0.0.1")] == [
        True, False, True, True, False,
    ]  # fmt: skip


async def test_a_name_that_is_another_address_a_moment_later_is_connected_to_as_it_was_judged() -> None:
    """DNS rebinding: the look-up at the connection is the one that is judged, and it is the only one."""
    async with hooks(200) as good, hooks(200) as internal:
        asked: list[str] = []

        async def changing(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

        guard = AddressGuard(("127.0.0.1/32",), changing)
        poster = Poster(guard)
        target = target_of(f"http://receiver.test:{good.port}/hook?a=b")
        assert target is not None
        assert await poster.post(target, b"{}", {"webhook-id": "msg_1"}) == 200
        assert asked == ["receiver.test"]
        with pytest.raises(NotSent) as refused:
            await poster.post(target, b"{}", {})
        assert (refused.value.said.code, refused.value.said.args["address"]) == (
            "webhook_address_refused", "127.0.0.2",
        )  # fmt: skip
        assert (len(good.came), len(internal.came)) == (1, 0)
        assert good.came[0].path == "/hook?a=b"
        assert good.came[0].headers["host"] == f"receiver.test:{good.port}"


async def test_one_address_that_is_refused_refuses_the_name() -> None:
    async def both(host: str, port: int) -> list[str]:
        return ["8.8.8.8", "10.0.0.1"]

    target = target_of("https://receiver.test/")
    assert target is not None
    with pytest.raises(NotSent) as refused:
        await AddressGuard((), both).addresses(target)
    assert refused.value.said.args["address"] == "10.0.0.1"


async def test_a_name_without_address_or_answer_is_said_so() -> None:
    async def silent(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    target = target_of("https://nobody.test/")
    assert target is not None
    with pytest.raises(NotSent) as refused:
        await AddressGuard((), silent).addresses(target)
    assert refused.value.said.code == "webhook_host_unknown"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (500, "delivery_refused"),
        (301, "delivery_redirected"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "delivery_no_http"),
        ("HTTP/1.1 200 OK\r\nx: " + "y" * 200_000, "delivery_no_http"),
        ("", "delivery_no_http"),
        (None, "delivery_timed_out"),
    ],
)
async def test_what_is_no_good_answer(answer: int | str | None, code: str) -> None:
    async with hooks(answer) as receiver:
        poster = Poster(AddressGuard(("127.0.0.0/8",)), patience_s=1.0)
        target = target_of(receiver.url)
        assert target is not None
        with pytest.raises(NotSent) as refused:
            async with asyncio.timeout(20):
                await poster.post(target, b"{}", {})
    assert refused.value.said.code == code


async def test_an_answer_is_good_once_its_head_is_there() -> None:
    """A body that never ends keeps nobody."""
    async with hooks("HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n" + "x" * 1000) as receiver:
        target = target_of(receiver.url)
        assert target is not None
        assert await Poster(AddressGuard(("127.0.0.0/8",))).post(target, b"{}", {}) == 200


def test_a_signature_is_that_of_the_specification() -> None:
    """The example of the specification's own test suite."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    made = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_secrets_differ_by_webhook_and_by_server() -> None:
    assert len({secret_of("a" * 43, "w1"), secret_of("a" * 43, "w2"), secret_of("b" * 43, "w1")}) == 3


def test_all_that_is_wrong_with_an_address_is_said_at_once() -> None:
    codes = [one.code for one in problems_of("http://a:b@example.org/#x", WebhooksConfig())]
    assert codes == ["webhook_not_https", "webhook_with_credentials", "webhook_with_fragment"]
    assert problems_of("http://example.org/", WebhooksConfig(http=True)) == []
    for bad in ("https://exa mple.org/", "https://", "https://example.org:99999/", "https://example.org/\r\nx: y"):
        assert [one.code for one in problems_of(bad, WebhooksConfig())] == ["webhook_not_url"], bad
