"""Runs as logs for viewers: Rerun's .rrd, and MCAP with Foxglove's schemas as JSON."""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...author.model import Model
from .surface import Surface, poses, surfaces

if TYPE_CHECKING:
    import xarray as xr

CURVES = {"joint_position": "coordinate", "joint_velocity": "coordinate", "energy": "kind"}  # and what they are of


def to_rrd(model: Model, dataset: "xr.Dataset", path: Path) -> None:
    """Write a run as a recording of Rerun: meshes, poses, joint coordinates and energies."""
    import rerun as rr

    log = rr.RecordingStream("impulsar")
    log.save(str(path))
    for name, colour, found in surfaces(model):
        for k, (vertices, triangles) in enumerate(found):
            own = name if name is not None else f"ground {colour}"
            place = rr.new_entity_path(["world", own, f"shape {k} {colour}"])
            albedo = [*bytes.fromhex(colour[1:]), 255]
            mesh = rr.Mesh3D(vertex_positions=vertices, triangle_indices=triangles, albedo_factor=albedo)
            log.log(place, mesh, static=True)
    times, positions, orientations = poses(dataset, list(model.bodies))
    clock = [rr.TimeColumn("time", duration=times)]
    for k, name in enumerate(model.bodies):
        columns = rr.Transform3D.columns(translation=positions[:, k], quaternion=orientations[:, k])
        rr.send_columns(rr.new_entity_path(["world", name]), indexes=clock, columns=columns, recording=log)
    for what, over in CURVES.items():
        for one in dataset[over].values.tolist():
            values = dataset[what].sel({over: one}).values
            columns = rr.Scalars.columns(scalars=values)
            rr.send_columns(rr.new_entity_path([what, one]), indexes=clock, columns=columns, recording=log)
    log.flush()
    log.disconnect()


def to_mcap(model: Model, dataset: "xr.Dataset") -> bytes:
    """A run as MCAP: /scene and /tf by Foxglove's schemas, /joints and /energy as plain numbers."""
    from mcap.writer import Writer

    data = io.BytesIO()
    writer = Writer(data)
    writer.start(profile="", library="impulsar")
    labels = {"/joints": dataset["coordinate"].values.tolist(), "/energy": dataset["kind"].values.tolist()}
    schemas = {"/scene": ("foxglove.SceneUpdate", SCENE), "/tf": ("foxglove.FrameTransforms", TRANSFORMS)}
    schemas |= {topic: (f"impulsar{topic.replace('/', '.')}", _numbers(names)) for topic, names in labels.items()}
    channels = {}
    for topic, (name, schema) in schemas.items():
        number = writer.register_schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
        channels[topic] = writer.register_channel(topic=topic, message_encoding="json", schema_id=number)

    def put(topic: str, time: float, message: Any) -> None:
        at = round(time * 1e9)
        writer.add_message(channels[topic], log_time=at, publish_time=at, data=json.dumps(message).encode())

    times, positions, orientations = poses(dataset, list(model.bodies))
    put("/scene", float(times[0]), {"deletions": [], "entities": _entities(model, float(times[0]))})
    for k, time in enumerate(times.tolist()):
        moved = [
            {
                "timestamp": _stamp(time),
                "parent_frame_id": "world",
                "child_frame_id": name,
                "translation": dict(zip("xyz", positions[k, i].tolist(), strict=True)),
                "rotation": dict(zip("xyzw", orientations[k, i].tolist(), strict=True)),
            }
            for i, name in enumerate(model.bodies)
        ]
        put("/tf", time, {"transforms": moved})
        for topic, what, over in (("/joints", "joint_position", "coordinate"), ("/energy", "energy", "kind")):
            values = dataset[what].isel(time=k).values.tolist()
            put(topic, time, dict(zip(dataset[over].values.tolist(), values, strict=True)))
    writer.finish()
    return data.getvalue()


def _stamp(time: float) -> dict[str, int]:
    seconds, rest = divmod(round(time * 1e9), 10**9)
    return {"sec": seconds, "nsec": rest}


def _entities(model: Model, time: float) -> list[dict]:
    """Shapes of bodies, each in its frame."""
    empty = ("metadata", "arrows", "cubes", "spheres", "cylinders", "lines", "texts", "models")
    return [
        {
            "timestamp": _stamp(time),
            "frame_id": name or "world",
            "id": f"{name or 'ground'} {colour}",
            "lifetime": {"sec": 0, "nsec": 0},
            "frame_locked": True,
            **{what: [] for what in empty},
            "triangles": [_triangles(one, colour) for one in found],
        }
        for name, colour, found in surfaces(model)
    ]


def _triangles(surface: Surface, colour: str) -> dict:
    vertices, triangles = surface
    points = [dict(zip("xyz", point, strict=True)) for point in np.asarray(vertices, float).tolist()]
    rgba = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    still = {"position": {"x": 0.0, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
    return {
        "pose": still,
        "points": points,
        "color": dict(zip("rgba", [*rgba, 1.0], strict=True)),
        "colors": [],
        "indices": triangles.ravel().tolist(),
    }


def _object(**properties: Any) -> dict:
    return {"type": "object", "properties": properties}


def _list(items: dict) -> dict:
    return {"type": "array", "items": items}


def _numbers(names: Any) -> dict:
    return _object(**dict.fromkeys(names, NUMBER))


NUMBER, INTEGER, TEXT = {"type": "number"}, {"type": "integer"}, {"type": "string"}
TIME = _object(sec=INTEGER, nsec=INTEGER)
VECTOR, TURN = _numbers("xyz"), _numbers("xyzw")
TRANSFORM = _object(timestamp=TIME, parent_frame_id=TEXT, child_frame_id=TEXT, translation=VECTOR, rotation=TURN)
TRANSFORMS = {"title": "foxglove.FrameTransforms", **_object(transforms=_list(TRANSFORM))}
COLOUR = _numbers("rgba")
TRIANGLES = _object(
    pose=_object(position=VECTOR, orientation=TURN), points=_list(VECTOR), color=COLOUR, colors=_list(COLOUR),
    indices=_list(INTEGER),
)  # fmt: skip
ENTITY = _object(
    timestamp=TIME, frame_id=TEXT, id=TEXT, lifetime=TIME, frame_locked={"type": "boolean"}, triangles=_list(TRIANGLES)
)
SCENE = {"title": "foxglove.SceneUpdate", **_object(deletions=_list(_object()), entities=_list(ENTITY))}
