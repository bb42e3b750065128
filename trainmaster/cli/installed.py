"""Which part of the product is installed here: the client alone, or the server too (`trainmaster[server]`).

The one place that knows. A command that is nothing without a server's packages demands them before it changes anything;
whatever else misses one on its way is refused in the same words (`told_plainly`, around every command).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from trainmaster.core.errors import Unavailable
from trainmaster.messages.server import client

SERVER: Final = {
    "alembic": "alembic",
    "argon2": "argon2-cffi",
    "authlib": "authlib",
    "cryptography": "cryptography",
    "fastapi": "fastapi",
    "httptools": "httptools",
    "joserfc": "joserfc",
    "minio": "minio",
    "prometheus_client": "prometheus-client",
    "psutil": "psutil",
    "psycopg": "psycopg",
    "pynvml": "nvidia-ml-py",
    "sqlalchemy": "sqlalchemy",
    "starlette": "fastapi",
    "tensorboard": "tensorboard",
    "urllib3": "urllib3",
    "uvicorn": "uvicorn",
    "uvloop": "uvloop",
}
"""What the server imports and the client does not -> the package that brings it. All are in the extra `server`."""
REMEDY: Final = client.INSTALL


def lacking() -> list[str]:
    """Return the packages of a server that are not installed here. Imports none of them."""
    from importlib.util import find_spec

    return sorted({package for module, package in SERVER.items() if find_spec(module) is None})


def demand_server() -> None:
    """Return where a server's packages are installed. Raises Unavailable naming those that are not."""
    missing = lacking()
    if missing:
        raise _refusal(missing)


@contextmanager
def told_plainly() -> Iterator[None]:
    """Turn a package of the server that is missing on the way into Unavailable. Any other missing module stays the
    fault that it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = SERVER.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        raise _refusal(lacking() or [package]) from error


def _refusal(missing: Iterable[str]) -> Unavailable:
    return Unavailable(client.server_packages_missing([*missing]))
