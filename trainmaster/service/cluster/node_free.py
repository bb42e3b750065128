"""What is free and what is held on a node. Pure."""

from collections import Counter

from trainmaster.core.records import Node, Resources
from trainmaster.queue.placing.capacity import Free, Room
from trainmaster.queue.placing.need import WHOLE, millicores


def carries(free: Free, ask: Resources) -> bool:
    """Return whether one replica fits in what is free on a node, ports aside."""
    if free.cpu < millicores(ask.cpu) or free.memory_mib < ask.memory_mib:
        return False
    models = [ask.gpu_type] if ask.gpu_type is not None else list(free.cards)
    if any(len(free.cards.get(model, ())) >= ask.gpu for model in models) or not ask.gpu:
        return True
    shared = [left for card, left in free.parts if ask.gpu_type in (None, free.node.gpus[card])]
    return ask.gpu_milli < WHOLE and any(left >= ask.gpu_milli for left in shared)


def has_room(free: Free) -> bool:
    """Return whether anything can start on a node: it has some of everything that it is made of."""
    cards = any(free.cards.values()) or any(left > 0 for _, left in free.parts)
    return free.cpu > 0 and free.memory_mib > 0 and (cards or not free.node.gpus)


def used_cards(node: Node, room: Room) -> Counter[str]:
    """Return the thousandths of cards held on a node, by model."""
    used = Counter({model: count * WHOLE for model, count in Counter(node.gpus).items()})
    free = room.on(node.name)
    if free is None:
        return Counter()
    for model, cards in free.cards.items():
        used[model] -= len(cards) * WHOLE
    for card, left in free.parts:
        used[node.gpus[card]] -= left
    return used
