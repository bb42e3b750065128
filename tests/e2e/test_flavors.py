"""Flavors of every kind, made as an administrator makes them and chosen as a member does (R14, R169)."""

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.world import World

FLAVORS = {
    "plain": ("cpu", 0, "", ""),
    "cards": ("gpu", 1, "sim-a100", "NVIDIA"),
    "npus": ("ascend", 1, "Ascend910B", "Huawei"),
    "mlus": ("mlu", 1, "MLU370-X8", "Cambricon"),
}
"""name -> (kind, cards, their model, their vendor)."""


def offered(console: Console) -> list[str]:
    """Return the flavors in the list that is open."""
    shown = console.page.locator(".ant-select-dropdown:visible .tm-flavor-line b")
    expect(shown.first).to_be_visible()
    return sorted(shown.all_inner_texts())


def test_the_form_offers_flavors_of_the_kind_that_is_looked_for(world: World, console: Console) -> None:
    console.open("/admin?tab=flavors")
    for name, (kind, count, model, vendor) in FLAVORS.items():
        console.press("flavor-add")
        console.at("admin-name").fill(name)
        console.page.locator("#cpu").fill("0.5")
        console.page.locator("#memory_mib").fill("256")
        console.at("flavor-gpu").fill(str(count))
        if count:
            console.page.locator("#gpu_type").fill(model)
            console.page.locator("#vendor").fill(vendor)
        else:
            expect(console.page.locator("#vendor")).to_be_disabled()
        console.press("admin-save")
        row = console.page.get_by_role("row").filter(has_text=name)
        expect(row).to_contain_text(kind.upper())
        expect(row).to_contain_text(vendor)

    console.open("/submit")
    console.press("use-flavors")
    kinds = {
        "CPU only": ["plain"], "GPU": ["cards"], "Ascend": ["npus"], "MLU": ["mlus"], "Ascend910B": ["npus"],
    }  # fmt: skip
    chosen = console.page.locator('[data-path="roles.0.flavors"] .ant-select').last
    for kind, names in kinds.items():
        console.press("flavor-kind")
        option = console.page.locator(".ant-select-dropdown:visible .ant-select-item-option").filter(
            has=console.page.get_by_text(kind, exact=kind != "Ascend910B")
        )
        option.first.evaluate("option => option.click()")
        chosen.click()
        assert offered(console) == names, kind
        console.page.keyboard.press("Escape")

    # the first that fits was chosen with the word Flavors; what is added stands behind it, whatever the list was cut to
    chosen.click()
    console.page.locator(".ant-select-dropdown:visible .ant-select-item-option").filter(has_text="npus").click()
    console.page.keyboard.press("Escape")
    console.fill("name", "one-of-two")
    console.fill("roles.0.command", "true")
    view = world.until(console.start(), lambda seen: seen["state"] == "succeeded")
    assert view["spec"]["roles"][0]["flavors"] == ["cards", "npus"]
    assert view["roles"][0]["flavor"] == "cards"

    # without any it says what a replica gets
    console.open("/submit")
    console.press("use-flavors")
    field = console.page.locator('[data-path="roles.0.flavors"]')
    expect(field).to_contain_text("cards")
    expect(console.at("no-flavor")).to_have_count(0)
    field.locator(".ant-select-selection-item-remove").click()
    expect(console.at("no-flavor")).to_contain_text("1 CPU core and 1 GiB")
