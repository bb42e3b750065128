"""An error of what was given: it says as data what is wrong with it."""

from trainmaster.messages import render
from trainmaster.messages.said import Said


class Wrong(ValueError):
    """Somebody gave what cannot be. `said`: what is wrong with it."""

    def __init__(self, said: Said) -> None:
        super().__init__(render.text(said))
        self.said = said
