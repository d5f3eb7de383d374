"""Files: models by their suffix, edits as JSON."""

from ..author.errors import FileError
from .codec import edit_from_json, edit_to_json, model_from_json, model_to_json, schema
from .loaders import load_model
from .scene_files import save_model

__all__ = [
    "FileError",
    "edit_from_json",
    "edit_to_json",
    "load_model",
    "model_from_json",
    "model_to_json",
    "save_model",
    "schema",
]
