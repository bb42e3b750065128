"""Credentials in documents of OpenPAI's version 2 (R69): what to do with them is said, and no password is."""

from typing import Any, Final

import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.dialects.pai import translate

PASSWORD: Final = "let-me-in-71c"
URI: Final = "registry.example.org/ai/torch:2.4"


def document(password: Any, uri: str = URI, **more: Any) -> dict[str, Any]:
    auth = {"username": "ann", "password": password, "registryuri": "registry.example.org"}
    image = {"type": "dockerimage", "name": "image_0", "uri": uri, "auth": auth}
    code = {"type": "data", "name": "d", "uri": ["/data"]}
    return {"protocolVersion": 2, "name": "x", "type": "job", "prerequisites": [code, image], **more}


@pytest.mark.parametrize(
    ("given", "path", "code"),
    [
        (document(PASSWORD), "prerequisites.1.auth.password", "pai_password_in_file"),
        (document(12345), "prerequisites.1.auth.password", "pai_password_in_file"),
        (document("<% $secrets.mine %>", secrets={"mine": PASSWORD}), "secrets.mine", "pai_password_in_file"),
        (document("<% $secrets.mine %>", secrets={"mine": "******"}), "prerequisites.1.auth", "pai_auth_is_a_secret"),
        (document("<% $secrets.mine %>"), "prerequisites.1.auth", "pai_auth_is_a_secret"),
        (document(""), "prerequisites.1.auth", "pai_auth_is_a_secret"),
        (document(PASSWORD, f"ann:{PASSWORD}@registry.example.org/x"), "prerequisites.1.auth.password", ""),
    ],
)
def test_what_becomes_of_credentials_is_said(given: dict[str, Any], path: str, code: str) -> None:
    with pytest.raises(InvalidSpec) as why:
        translate(given)
    version, found = why.value.problems
    assert (version.path, found.path) == ("protocolVersion", path)
    assert code in ("", found.code)
    for said in (found, version):
        assert PASSWORD not in repr(said)
    if code:
        assert f"tm image create NAME --container {URI} --secret REGISTRY" in (found.remedy or "")


def test_documents_of_other_shapes_are_no_surprise() -> None:
    for given in (None, 1, [None, {"type": "dockerimage", "auth": []}, {"type": "dockerimage", "uri": "x"}]):
        with pytest.raises(InvalidSpec) as why:
            translate({"protocolVersion": 2, "prerequisites": given})
        assert [one.path for one in why.value.problems] == ["protocolVersion"]
