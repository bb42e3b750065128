"""Talks to a bucket: minio's client over connections of our own (`reaching`). Slow to load: only `bucket` imports it.

Follows no redirect, obeys no proxy and no variable of the environment, reads bounded answers, and tries nothing again:
whoever asks does. Every failure is a StoreFailed. Blocking; one object may be used by several threads.
"""

import io
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.error import InvalidResponseError, MinioException, S3Error, ServerError
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from trainmaster.messages.assets import objects as said
from trainmaster.messages.said import Said
from trainmaster.storage.objects.bucket import OF_AWS, GoOn, StoredObject, StoreTarget, nothing_else, region_of
from trainmaster.storage.objects.reaching import CONNECT_S, StoreFailed, StoreReach

READ_S: Final = 60.0
"""For which an answer may be silent."""
BLOCK: Final = 256 * 1024
MOST_ANSWER: Final = 16 << 20
"""Bytes of an answer that is no object."""
AT_ONCE: Final = 8
NO_REGION: Final = "us-east-1"
"""What stores without regions take: so that none has to be asked for."""

_WORDS: Final[dict[str, Callable[[], Said]]] = {
    "InvalidAccessKeyId": said.store_key_unknown,
    "SignatureDoesNotMatch": said.store_key_wrong,
    "RequestTimeTooSkewed": said.store_clock_skew,
}
_BUSY: Final = frozenset({"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "OperationAborted"})


class Bucket:
    """The bucket of a target. `go_on` is asked before each request and each block."""

    def __init__(self, target: StoreTarget, reach: StoreReach, go_on: GoOn = nothing_else) -> None:
        parts = urlsplit(target.endpoint)
        self.target, self._host, self._go_on = target, parts.hostname or "", go_on
        self._client = Minio(
            parts.netloc,
            access_key=target.key_id,
            secret_key=target.secret,
            secure=parts.scheme == "https",
            region=region_of(target.endpoint, target.region) or NO_REGION,
            http_client=_Pools(reach, hosts_of(self._host, target.bucket), go_on),
        )

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects whose keys begin with `prefix`, by key, page by page. Raises StoreFailed."""
        with self._told(said.store_to_list()):
            for one in self._client.list_objects(self.target.bucket, prefix=prefix, recursive=True):
                self._go_on()
                yield StoredObject(one.object_name or "", one.size or 0, (one.etag or "").strip('"'))

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield what keys that begin with `prefix` have in common up to the next slash. Raises StoreFailed."""
        with self._told(said.store_to_list()):
            for one in self._client.list_objects(self.target.bucket, prefix=prefix):
                self._go_on()
                if one.is_dir and one.object_name:
                    yield one.object_name

    def find(self, key: str) -> StoredObject | None:
        """Return one object, None where there is none. Raises StoreFailed."""
        with self._told(said.store_to_read()):
            try:
                one = self._client.stat_object(self.target.bucket, key)
            except S3Error as error:
                if error.code in ("NoSuchKey", "NoSuchObject"):
                    return None
                raise
            return StoredObject(key, one.size or 0, (one.etag or "").strip('"'))

    def read(self, one: StoredObject, offset: int = 0) -> "ObjectReading":
        """Return the content of an object from `offset` on, if it is still what was listed. Raises StoreFailed."""
        with self._told(said.store_to_read()):
            headers: dict[str, Any] = {"If-Match": f'"{one.etag}"'} if one.etag else {}
            try:
                answer = self._client.get_object(self.target.bucket, one.key, offset=offset, request_headers=headers)
            except S3Error as error:
                if error.code in ("PreconditionFailed", "NoSuchKey", "InvalidRange"):
                    raise StoreFailed(said.store_changed_meanwhile(one.key)) from None
                raise
            if one.etag and answer.headers.get("etag", "").strip('"') not in ("", one.etag):
                answer.close()
                raise StoreFailed(said.store_changed_meanwhile(one.key))
            return ObjectReading(self, answer, offset)

    def put(self, key: str, content: bytes) -> None:
        """Write a small object. Raises StoreFailed."""
        with self._told(said.store_to_write()):
            self._client.put_object(self.target.bucket, key, io.BytesIO(content), len(content))

    def send(self, key: str, content: BinaryIO, size: int, part: int) -> str:
        """Write an object of `size` bytes, in parts of `part` where it has more; return its ETag, without quotes. Takes
        `part` bytes of memory. Raises StoreFailed, and OSError of `content` as such.
        """
        with self._told(said.store_to_write()):
            made = self._client.put_object(
                self.target.bucket, key, content, size, part_size=part, num_parallel_uploads=1
            )
            return (made.etag or "").strip('"')

    def get(self, key: str) -> bytes:
        """Return a small object. Raises StoreFailed."""
        with self._told(said.store_to_read()):
            answer = self._client.get_object(self.target.bucket, key)
            try:
                return bytes(answer.read(MOST_ANSWER))
            finally:
                answer.close()

    def remove(self, key: str) -> None:
        """Delete an object. Raises StoreFailed."""
        with self._told(said.store_to_delete()):
            self._client.remove_object(self.target.bucket, key)

    @contextmanager
    def _told(self, what: Said) -> Iterator[None]:
        """Turn whatever the library raises into StoreFailed."""
        try:
            yield
        except StoreFailed:
            raise
        except S3Error as error:
            raise self._refused(error, what) from None
        except (InvalidResponseError, ServerError) as error:
            status = int(getattr(error, "status_code", None) or getattr(error, "_code", None) or 0)
            raise self._not_s3(status, what) from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._broken(error) from None
        except (MinioException, ValueError, SyntaxError):  # what it was told is no answer of S3
            raise StoreFailed(said.store_not_s3(self._host, 200)) from None

    def _refused(self, error: S3Error, what: Said) -> StoreFailed:
        code, bucket = error.code or "", self.target.bucket
        if code in _WORDS:
            return StoreFailed(_WORDS[code]())
        if code == "NoSuchBucket":
            return StoreFailed(said.store_no_bucket(bucket))
        if code in ("AccessDenied", "AllAccessDisabled", "MethodNotAllowed"):
            return StoreFailed(said.store_access_denied(what))
        region = error.response.headers.get("x-amz-bucket-region", "")
        if code in ("PermanentRedirect", "Redirect", "TemporaryRedirect", "AuthorizationHeaderMalformed") and region:
            return StoreFailed(said.store_other_region(region[:64]))
        if error.response.status in (301, 302, 303, 307, 308):
            return StoreFailed(said.store_redirected(self._host, error.response.status))
        if code in _BUSY or error.response.status in (429, 500, 502, 503, 504):
            return StoreFailed(said.store_busy(_short(code)), lasting=False)
        return StoreFailed(said.store_refused(_short(code)))

    def _not_s3(self, status: int, what: Said) -> StoreFailed:
        if 300 <= status < 400:
            return StoreFailed(said.store_redirected(self._host, status))
        if status in (429, 500, 502, 503, 504):
            return StoreFailed(said.store_busy(str(status)), lasting=False)
        return StoreFailed(said.store_access_denied(what) if status == 403 else said.store_not_s3(self._host, status))

    def _broken(self, error: Exception) -> StoreFailed:
        """Return what became of a connection."""
        seen: BaseException | None = error
        while seen is not None:
            reason = getattr(seen, "reason", None)
            if isinstance(seen, StoreFailed):
                return seen
            if isinstance(seen, ssl.SSLCertVerificationError):
                return StoreFailed(said.store_not_trusted(self._host, seen.verify_message or "?"))
            if isinstance(seen, ssl.SSLError | urllib3.exceptions.SSLError) and not isinstance(reason, Exception):
                return StoreFailed(said.store_not_trusted(self._host, "TLS"))
            seen = reason if isinstance(reason, Exception) else seen.__cause__ or seen.__context__
        return StoreFailed(said.store_broke_off(), lasting=False)


def hosts_of(host: str, bucket: str) -> Callable[[str], bool]:
    """Return whether a host is that of an endpoint: itself, or with the bucket in front; of AWS that of a region."""
    of_aws = OF_AWS.fullmatch(host) is not None

    def same(asked: str) -> bool:
        plain = asked.removeprefix(f"{bucket}.")
        return plain == host or (of_aws and OF_AWS.fullmatch(plain) is not None)

    return same


class ObjectReading:
    """The content of one object, on its way. `offset`: where it begins, 0 where a store knows no ranges; `hashed`:
    whether its ETag may be the MD5 of its bytes.
    """

    def __init__(self, bucket: Bucket, answer: Any, offset: int) -> None:
        self._bucket, self._answer = bucket, answer
        self.offset = offset if answer.headers.get("content-range", "").startswith(f"bytes {offset}-") else 0
        secret = answer.headers.get("x-amz-server-side-encryption", "")
        customer = answer.headers.get("x-amz-server-side-encryption-customer-algorithm", "")
        self.hashed = not customer and secret in ("", "AES256")

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes. Raises StoreFailed where they break off."""
        try:
            with self._bucket._told(said.store_to_read()):
                while block := self._answer.read(BLOCK):
                    self._bucket._go_on()
                    yield block
        finally:
            self._answer.close()


def _short(code: str) -> str:
    """Return a code of the store as it may be shown."""
    return code[:64] if code.isascii() and code.replace(".", "").isalnum() else "-"


class _Pools(urllib3.PoolManager):
    """Connections by `reach`, to the hosts that are `same`."""

    def __init__(self, reach: StoreReach, same: Callable[[str], bool], go_on: GoOn) -> None:
        tls = ssl.create_default_context(cafile=reach.ca or None)
        patience = urllib3.Timeout(connect=CONNECT_S, read=READ_S)
        super().__init__(maxsize=AT_ONCE, timeout=patience, retries=False, ssl_context=tls)
        self._same, self._go_on = same, go_on
        self.pool_classes_by_scheme = _pools(reach)

    def urlopen(self, method: str, url: str, *given: Any, **named: Any) -> Any:
        """Send a request. Answers that are no object are read here, as far as they may go."""
        self._go_on()
        if not self._same(host := urlsplit(url).hostname or ""):
            raise StoreFailed(said.store_redirected(host, 0))
        whole = named.pop("preload_content", True)
        named |= {"redirect": False, "preload_content": False}
        answer = super().urlopen(method, url, *given, **named)
        if not whole and answer.status in (200, 206):
            return answer
        content = answer.read(MOST_ANSWER + 1)
        if len(content) > MOST_ANSWER:
            answer.close()
            raise StoreFailed(said.store_answer_too_large())
        answer.release_conn()
        if content.lstrip()[:1] == b"<":  # some say that their XML is something else
            answer.headers["content-type"] = "application/xml"
        return urllib3.HTTPResponse(
            body=io.BytesIO(content),
            headers=answer.headers,
            status=answer.status,
            request_method=method,
            preload_content=whole,
            decode_content=False,
        )


def _pools(reach: StoreReach) -> dict[str, Any]:
    class Plain(HTTPConnection):
        def _new_conn(self) -> Any:
            return reach.connect(self._dns_host, self.port)

    class Secure(HTTPSConnection):
        def _new_conn(self) -> Any:
            return reach.connect(self._dns_host, self.port)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}
