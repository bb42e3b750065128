"""What readers are shown of an event."""

from trainmaster.core.events import Event, Kind
from trainmaster.service.views import event_view


def test_what_an_earlier_version_noted_for_its_engine_is_not_shown() -> None:
    event = Event("t1", Kind.STARTED, 1.0, attempt=1, data={"handle": "{}", "placement": []})
    assert event_view(event, lambda job: None).data == {"placement": []}
