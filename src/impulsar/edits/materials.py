"""Materials while the mechanism runs: of bodies and shapes, and common ones that are declared to be changed."""

from dataclasses import replace

from ..author.checks import show, whole
from ..author.materials import COMMON, users
from ..author.model import Model
from ..author.parts import PARTS, Body
from ..author.shapes import check_solids
from ..author.surfaces import Obstacle
from .data import Remove, SetMaterial, SetParameter
from .inputs import claim
from .refusal import EditError, known
from .registry import Desk, Plan, carries_out


@carries_out(SetMaterial)
def set_material(edit: SetMaterial, desk: Desk) -> Plan:
    """Give a body, an obstacle or a shape another material."""
    model = desk.model
    part: Body | Obstacle = known("edit of a material", "body or obstacle", edit.part, model.bodies | model.obstacles)
    kind = "body" if part.name in model.bodies else "obstacle"
    owner = f"{kind} '{part.name}'"
    if edit.material is not None:
        model.find_material(owner, edit.material)
    if edit.shape is None:
        before = part.material
        new: Body | Obstacle = replace(part, material=edit.material)
    else:
        if not part.shapes:
            raise EditError(f"{owner}: has no shape; give it one, or the material to the {kind}")
        k = whole(owner, "shape", edit.shape, 0, len(part.shapes) - 1)
        shapes = list(part.shapes)
        before, shapes[k] = shapes[k].material, replace(shapes[k], material=edit.material)
        new = replace(part, shapes=shapes) if isinstance(part, Body) else replace(part, shape=shapes[0])
    if isinstance(new, Body):
        check_solids(owner, new.shapes, new.material)
    told = "no material of its own" if edit.material is None else f"material '{edit.material}'"
    where = owner if edit.shape is None else f"shape {edit.shape} of {owner}"
    return Plan(model.having(kind, new), f"{where} has {told}", SetMaterial(edit.part, before, edit.shape))


def declare_common(edit: SetParameter, desk: Desk) -> Plan | None:
    """A parameter of a common material that the model does not declare: it is declared, and then set."""
    name, _, what = str(edit.path).rpartition(".")
    if name not in COMMON or desk.model.kind_of(name) is not None:
        return None
    claim(desk.bench.system, "material", name)
    known(f"parameter '{edit.path}'", "parameter", what, {own.name: own for own in PARTS["material"].parameters})
    model = desk.model.having("material", replace(COMMON[name]))
    return Plan(model, f"'{edit.path}' is set", Remove("material", name), then=edit)


def refuse_used(model: Model, material: str) -> None:
    """Refuse to remove a material that others use, unless there is a common one of its name."""
    using = users(model, material)
    if using and material not in COMMON:
        told = ", ".join(using[:6]) + (", ..." if len(using) > 6 else "")
        raise EditError(f"material {show(material)}: is used by {told}; give them another first")
