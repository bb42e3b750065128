"""Favorites of what is kept under names (R141): each person's own, of what they may see, and lists by them; and by
whose a thing is.
"""

from typing import Any

import pytest

from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_bin import ANN, BOB, MAKES, delete, vision
from trainmaster.access.roles import Principal
from trainmaster.core.errors import NotFound
from trainmaster.core.states import JobShare
from trainmaster.store.assets.versions import AssetQuery

__all__ = ["vision"]  # a fixture


async def favor(stage: Stage, kind: str, ref: str, who: Principal, wanted: bool = True) -> Any:
    if kind == "model":
        return await stage.platform.favor_model(ref, who, wanted)
    return await getattr(stage.platform, f"{kind}s").favor(ref, who, wanted)


async def page(stage: Stage, kind: str, who: Principal, **wanted: str) -> list[Any]:
    query = AssetQuery(**wanted)
    if kind == "model":
        return (await stage.platform.models(who, query)).items
    return list((await getattr(stage.platform, f"{kind}s").page(who, query, 9)).items)


async def shown(stage: Stage, kind: str, ref: str, who: Principal) -> Any:
    if kind == "model":
        return await stage.platform.model(ref, who)
    return await getattr(stage.platform, f"{kind}s").detail(ref, who)


@pytest.mark.parametrize("kind", MAKES)
async def test_a_favorite_is_ones_own_and_opens_nothing(vision: Stage, kind: str) -> None:
    ref = await MAKES[kind](vision)
    for refused in (favor(vision, kind, ref, BOB), favor(vision, kind, ref, BOB, False)):
        with pytest.raises(NotFound):
            await refused
    assert not (await shown(vision, kind, ref, ANN)).favorite
    assert await page(vision, kind, ANN, favorite_of="ann") == []
    assert (await favor(vision, kind, ref, ANN)).favorite
    assert (await shown(vision, kind, ref, ANN)).favorite
    assert not (await shown(vision, kind, ref, ADMIN)).favorite
    assert [(one.id, one.favorite) for one in await page(vision, kind, ANN, favorite_of="ann")] == [(ref, True)]
    assert [one.favorite for one in await page(vision, kind, ADMIN)] == [False]
    assert await page(vision, kind, ADMIN, favorite_of=ADMIN.name) == []
    await delete(vision, kind, ref)
    assert await page(vision, kind, ANN, favorite_of="ann") == []
    await vision.platform.bin.restore("mine", ANN)
    assert [one.id for one in await page(vision, kind, ANN, favorite_of="ann")] == [ref]
    assert not (await favor(vision, kind, ref, ANN, False)).favorite
    assert await page(vision, kind, ANN, favorite_of="ann") == []


@pytest.mark.parametrize("kind", [kind for kind in MAKES if kind != "model"])
async def test_a_list_is_of_ones_own_or_of_what_others_share(vision: Stage, kind: str) -> None:
    ref = await MAKES[kind](vision)
    assert await page(vision, kind, BOB, shared_with="bob") == []
    assert await page(vision, kind, ADMIN, shared_with=ADMIN.name) == []  # seen, but nobody shares it
    await getattr(vision.platform, f"{kind}s").share(ref, ANN, JobShare.READ)
    assert [one.id for one in await page(vision, kind, BOB, shared_with="bob")] == [ref]
    assert await page(vision, kind, ANN, shared_with="ann") == []
    assert await page(vision, kind, BOB, owner="bob") == []
    assert (await favor(vision, kind, ref, BOB)).favorite
    await getattr(vision.platform, f"{kind}s").share(ref, ANN, JobShare.NONE)
    assert await page(vision, kind, BOB, favorite_of="bob") == []
    with pytest.raises(NotFound):
        await shown(vision, kind, ref, BOB)
