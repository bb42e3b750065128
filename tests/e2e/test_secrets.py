"""A secret is set and chosen in the console, and shown by nothing (B12)."""

from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.axe import judge
from tests.e2e.conftest import Open
from tests.e2e.world import World

VALUE = "canary-41f0aa27c9"


def test_a_secret_from_the_dialog_to_the_log(new_console: Open, signed_in: Path, world: World) -> None:
    console = new_console(cookies=signed_in)
    console.open("/admin?tab=workspaces")
    console.press("secrets-default")
    console.at("secret-name").fill("not a name")
    console.at("secret-value").fill("abc")
    console.press("secret-save")
    expect(console.page.locator(".ant-form-item-explain-error")).to_have_count(2)
    console.at("secret-name").fill("WANDB_API_KEY")
    console.at("secret-value").fill(VALUE)
    console.press("secret-save")
    expect(console.at("secret-WANDB_API_KEY")).to_contain_text("never")
    expect(console.at("secret-value")).to_have_value("")
    console.press("replace-WANDB_API_KEY")
    expect(console.at("secret-name")).to_have_value("WANDB_API_KEY")
    expect(console.at("secret-save")).to_have_text("Replace")
    console.at("secret-value").fill(f"{VALUE}-2")
    console.press("secret-save")
    expect(console.at("secret-value")).to_have_value("")
    assert judge(console.page) == []
    assert VALUE not in console.page.content()

    console.open("/submit")
    console.press("expert")
    console.fill("name", "uses-a-secret")
    console.fill("roles.0.command", 'sh -c "echo it is $WANDB_API_KEY"')
    console.choose("field-secrets", "WANDB_API_KEY")
    console.page.keyboard.press("Escape")
    job = console.start()
    world.until(job, lambda seen: seen["state"] == "succeeded")
    assert "it is ***" in world.tm("logs", job)
    assert world.show(job)["state"] == "succeeded"
    assert VALUE not in world.tm("show", job, "--json")

    console.open("/admin?tab=workspaces")
    console.press("secrets-default")
    expect(console.at("secret-WANDB_API_KEY")).not_to_contain_text("never")
    console.press("delete-WANDB_API_KEY")
    console.press("confirm-ok")
    expect(console.at("secret-WANDB_API_KEY")).to_have_count(0)
