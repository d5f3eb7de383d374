"""What a scene is about, for clients."""

from ..author.errors import ModelError
from ..scenes import SCENES
from ..scenes.about import Note
from ..world.world import World
from . import messages as ms

NOTHING = ms.About(notes=[])


def about(scene: str | None, world: World) -> ms.About:
    """Notes of the catalogue's scene, as far as the parts that they are of are still there."""
    entry = None if scene is None else SCENES.get(scene)
    if entry is None or entry.about is None:
        return NOTHING
    try:
        return ms.About(notes=[_note(note) for note in entry.about(world)])
    except (ModelError, KeyError):  # somebody has changed it into something else
        return NOTHING


def _note(note: Note) -> ms.Note:
    return ms.Note(
        text=note.text,
        value=note.value,
        unit=note.unit,
        lines=[[list(map(float, point)) for point in line] for line in note.lines],
        tubes=[
            ms.Tube(
                body=tube.body,
                start=list(map(float, tube.start)),
                end=list(map(float, tube.end)),
                radius=tube.radius,
                hollow=tube.hollow,
            )
            for tube in note.tubes
        ],
        turns=[ms.Point(body=body, at=list(map(float, at))) for body, at in note.turns],
    )
