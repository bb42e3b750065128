"""The home folder and those in it: made at the start, closed to others."""

import os
from dataclasses import replace

from trainmaster.core.errors import Conflict
from trainmaster.core.folders.layout import BULK, OWN, Layout
from trainmaster.messages.server.backup import restore_not_finished
from trainmaster.service.folders.privacy import close_to_others


def prepare_home(home: str) -> Layout:
    """Make the home folder and those in it, private to this user, and close what is open. Raises OSError; Conflict
    where a restore did not finish.
    """
    layout = Layout(os.path.abspath(home))
    if os.path.lexists(layout.restoring):
        raise Conflict(restore_not_finished(layout.home))
    _private(layout.home, *map(layout.path, OWN))
    close_to_others(layout.home)
    return layout


def prepare_data(layout: Layout, data: str) -> Layout:
    """Make the folders of what is bulky, private to this user, below `data` ("": in HOME); return the layout with them.

    Raises OSError.
    """
    layout = replace(layout, data=os.path.realpath(data) if data else "")
    _private(layout.bulk, *(os.path.join(layout.bulk, name) for name in BULK))
    return layout


def _private(*folders: str) -> None:
    for folder in folders:
        os.makedirs(folder, mode=0o700, exist_ok=True)
