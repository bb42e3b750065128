"""The guide's page on TLS as it is typed: its openssl commands make an authority and a certificate, its files start the
real nginx and the real Caddy, and through both of them everything passes (R138).
"""

import json
import os
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fixtures.ports import free_ports
from tests.fixtures.shell import TM, Shell, serving, write

GUIDE = (Path(__file__).parents[2] / "docs/guide/install.md").read_text()
SETTINGS = '[server]\ntrusted_proxies = ["127.0.0.1"]\n[local]\nvirtual_nodes = 1\ncpu = 4.0\nmemory_mib = 4096\n'
NAME = "localhost"
PATIENCE_S = 120.0


def block(kind: str, *, holding: str) -> str:
    """Return the block of the guide's page that holds a text, for the name that this test has."""
    found = [
        text for text in re.findall(rf"^```{kind}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL) if holding in text
    ]
    assert len(found) == 1, holding
    return found[0].replace("train.example.org", NAME)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with lab-ca.crt, train.crt and train.key, made as the guide says."""
    folder = tmp_path_factory.mktemp("authority")
    subprocess.run(["bash", "-euc", block("bash", holding="Lab CA")], cwd=folder, check=True, capture_output=True)
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=SETTINGS) as shell:
        yield shell


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(
    request: pytest.FixtureRequest, tm: Shell, authority: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a proxy with TLS before the server, with the guide's own file."""
    folder = tmp_path_factory.mktemp(request.param)
    behind = json.loads((tm.home / "run" / "server.json").read_text())["url"].removeprefix("http://")
    port = free_ports(2, 10_000, 17_000)
    started = {"nginx": nginx, "caddy": caddy}[request.param](folder, authority, behind, port)
    try:
        context = ssl.create_default_context(cafile=str(authority / "lab-ca.crt"))
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                if httpx.get(f"https://{NAME}:{port}/readyz", verify=context).is_success:
                    break
            except httpx.TransportError:
                assert started.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < give_up, (folder / "log").read_text()
            time.sleep(0.1)  # until it listens
        yield f"https://{NAME}:{port}"
    finally:
        started.terminate()
        started.wait(30)


def at_our_place(text: str, authority: Path, behind: str) -> str:
    for name in ("train.crt", "train.key"):
        assert f"/etc/ssl/trainmaster/{name}" in text
    return text.replace("/etc/ssl/trainmaster", str(authority)).replace("127.0.0.1:8470", behind)


def nginx(folder: Path, authority: Path, behind: str, port: int) -> "subprocess.Popen[bytes]":
    text = at_our_place(block("nginx", holding="proxy_pass"), authority, behind)
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace(
        "listen 80", f"listen 127.0.0.1:{port + 1}"
    )
    (folder / "site.conf").write_text(text)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/log; worker_processes 1;\n"
        + ("user root;\n" if os.geteuid() == 0 else "")
        + f"events {{}}\nhttp {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; include site.conf; }}\n"
    )
    (folder / "log").touch()
    command = ["-p", str(folder), "-c", str(folder / "nginx.conf")]
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program is not None
    return subprocess.Popen([program, *command], stderr=subprocess.DEVNULL)


def caddy(folder: Path, authority: Path, behind: str, port: int) -> "subprocess.Popen[bytes]":
    text = at_our_place(block("text", holding="tls /etc/ssl"), authority, behind)
    global_options = f"{{\n\tadmin off\n\thttps_port {port}\n\thttp_port {port + 1}\n}}\n"
    (folder / "Caddyfile").write_text(global_options + text)
    env = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with open(folder / "log", "wb") as log:
        return subprocess.Popen(
            ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"],
            env=env,
            stdout=log,
            stderr=log,
        )


def from_elsewhere(proxy: str, token: str, authority: Path, *words: str, code: int = 0) -> str:
    """What a person on a laptop types, who trusts the laboratory's authority."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("TRAINMASTER_")}
    env |= {"TRAINMASTER_URL": proxy, "TRAINMASTER_TOKEN": token, "SSL_CERT_FILE": str(authority / "lab-ca.crt")}
    done = subprocess.run([*TM, *words], env=env, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout


def test_everything_passes_through_it(proxy: str, tm: Shell, authority: Path, tmp_path: Path) -> None:
    """Upload of 3 MB, submit, live log, a program inside a job, download."""
    token = tm.json("token", "create", f"laptop-{proxy.rpartition(':')[2]}")["token"]
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "big").write_bytes(os.urandom(3_000_000))
    job = write(tmp_path / "code" / "job.json", "sh -c 'echo begun; wc -c big; sleep 1000'", code=".")

    def said(*words: str) -> str:
        return from_elsewhere(proxy, token, authority, *words)

    made = json.loads(said("submit", job, "--json"))["id"]
    give_up = time.monotonic() + 60
    while "3000000 big" not in said("logs", made):
        assert time.monotonic() < give_up
    assert "big" in said("exec", made, "--", "ls")
    assert "signed in as admin" in said("doctor")
    said("stop", made)


def test_who_comes_through_it_is_known_by_the_address_they_have_and_the_cookie_is_for_tls(
    proxy: str, authority: Path
) -> None:
    context = ssl.create_default_context(cafile=str(authority / "lab-ca.crt"))
    with httpx.Client(base_url=proxy, verify=context, timeout=PATIENCE_S) as client:
        page = client.get("/")
        assert page.status_code in (200, 307, 404)
        refused = client.post(
            "/api/v1/session", json={"username": "admin", "password": "wrong wrong"}, headers={"Origin": proxy}
        )
        assert refused.status_code == 401, refused.text
        foreign = client.post("/api/v1/session", json={}, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403


def test_without_the_authority_nothing_is_believed(proxy: str) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{proxy}/readyz", verify=ssl.create_default_context(), timeout=PATIENCE_S)
