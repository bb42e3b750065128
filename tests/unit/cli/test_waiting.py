"""What the terminal says to who waits: when a job starts with a change, and when without."""

from functools import partial

from trainmaster.answers import ForecastView, SuggestionView, Text, WouldStart
from trainmaster.cli.render import changing, waiting_lines


def test_a_change_is_told_with_both_times() -> None:
    about = ForecastView(when="about", at=3600.0, low=None, high=None, why=None, made_at=0.0)
    text, change = Text(zh="", en="Raise the priority to urgent"), {"priority": "urgent"}
    lines = []
    for forecast, before in ((None, None), (about, 7200.0), (about, None)):
        said = SuggestionView(code="x", message=text, change=change, forecast=forecast, otherwise_at=before)
        found = WouldStart(
            when="queue", reason=None, position=None, forecast=None, alternatives=[], suggestions=[said], pool="default"
        )
        lines.append(waiting_lines(found, partial(changing, "t" * 33)))
    assert [line[0] for line in lines] == [
        "to start it now: Raise the priority to urgent",
        "to start it sooner, about 1970-01-01 01:00 UTC instead of 1970-01-01 02:00 UTC: Raise the priority to urgent",
        "to start it sooner, about 1970-01-01 01:00 UTC instead of an unknown time: Raise the priority to urgent",
    ]
    assert {line[1] for line in lines} == {"  tm change tttttttttttt --priority urgent"}
