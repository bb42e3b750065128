"""What the terminal says to who waits: when a job starts with a change, and when without."""

from functools import partial

from trainmaster.cli.render import changing, waiting_lines


def test_a_change_is_told_with_both_times() -> None:
    about = {"when": "about", "at": 3600.0, "low": None, "high": None, "why": None, "made_at": 0.0}
    change = {"message": {"en": "Make it urgent"}, "change": {"priority": "urgent"}}
    lines = [
        waiting_lines(
            {"suggestions": [{**change, "forecast": forecast, "otherwise_at": before}]}, partial(changing, "t" * 33)
        )
        for forecast, before in ((None, None), (about, 7200.0), (about, None))
    ]
    assert [line[0] for line in lines] == [
        "to start it now: Make it urgent",
        "to start it sooner, about 1970-01-01 01:00 UTC instead of 1970-01-01 02:00 UTC: Make it urgent",
        "to start it sooner, about 1970-01-01 01:00 UTC instead of an unknown time: Make it urgent",
    ]
    assert {line[1] for line in lines} == {"  tm change tttttttttttt --priority urgent"}
