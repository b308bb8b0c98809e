"""The timeline of a run, as viewers list it: items in order, each changed in place.

An item has no copy of anything bulky, only its place in the raw log.
"""

from nightrook.model.timeline.fold import LONGEST_FIRST_LINE, Draft, Timeline
from nightrook.model.timeline.items import Item, ItemKind, Items, Place

__all__ = ["LONGEST_FIRST_LINE", "Draft", "Item", "ItemKind", "Items", "Place", "Timeline"]
