"""What a STEP file has: its products and solids with mass properties and surfaces, by OpenCASCADE; `child` runs it.

Lengths are in mm, to which OpenCASCADE converts the file's unit. `data` is "product" or "solid": what is one part.
"""

from typing import Any

PACKAGE = "cadquery-ocp-novtk"
MOST_PARTS = 5_000
MOST_TRIANGLES = 400_000  # of all parts
DEEPEST = 60  # assemblies in one another
FINE = 0.02  # of its size: by so much a surface may be off its triangles


def read(path: str, data: bytes) -> dict[str, Any]:
    """Parts: name, volume, centre, inertia about it for a density of 1, triangles; all in the file's frame."""
    from OCP.IFSelect import IFSelect_RetDone
    from OCP.STEPCAFControl import STEPCAFControl_Reader
    from OCP.TCollection import TCollection_ExtendedString
    from OCP.TDocStd import TDocStd_Document
    from OCP.XCAFDoc import XCAFDoc_DocumentTool

    reader = STEPCAFControl_Reader()
    reader.SetNameMode(True)
    if reader.ReadFile(path) != IFSelect_RetDone:
        raise ValueError("is no STEP file that can be read; export it again")
    document = TDocStd_Document(TCollection_ExtendedString("XmlOcaf"))
    if not reader.Transfer(document):
        raise ValueError("has nothing that could be transferred; export solids")
    tool = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    finder = Finder(tool, data == b"solid")
    finder.all()
    return {"parts": finder.parts, "open": finder.open}


class Finder:
    """One document on its way to JSON."""

    def __init__(self, tool: Any, by_solid: bool):
        self.tool, self.by_solid = tool, by_solid
        self.parts: list[dict[str, Any]] = []
        self.open: list[str] = []  # names of parts that enclose nothing
        self.triangles = 0

    def all(self) -> None:
        from OCP.TopLoc import TopLoc_Location

        roots = _labels()
        self.tool.GetFreeShapes(roots)
        for k in range(1, roots.Length() + 1):
            self._label(roots.Value(k), TopLoc_Location(), "", 0)

    def _label(self, label: Any, place: Any, name: str, depth: int) -> None:
        """A product where it is placed, and those that it is made of."""
        from OCP.TDF import TDF_Label
        from OCP.XCAFDoc import XCAFDoc_ShapeTool

        if depth > DEEPEST:
            raise ValueError(f"has assemblies more than {DEEPEST} deep")
        if XCAFDoc_ShapeTool.IsReference_s(label):
            place = place.Multiplied(XCAFDoc_ShapeTool.GetLocation_s(label))
            name = name or _name(label)
            product = TDF_Label()
            XCAFDoc_ShapeTool.GetReferredShape_s(label, product)
            self._label(product, place, _name(product) or name, depth + 1)
            return
        if XCAFDoc_ShapeTool.IsAssembly_s(label):
            parts = _labels()
            XCAFDoc_ShapeTool.GetComponents_s(label, parts)
            for k in range(1, parts.Length() + 1):
                self._label(parts.Value(k), place, "", depth + 1)
            return
        shape = XCAFDoc_ShapeTool.GetShape_s(label)
        name = _name(label) or name or "part"
        if shape is None or shape.IsNull():
            return
        shape = shape.Moved(place)
        solids = _solids(shape)
        if not solids:
            self.open.append(name)
        elif self.by_solid:
            for k, solid in enumerate(solids):
                self._part(f"{name} {k + 1}" if len(solids) > 1 else name, [solid])
        else:
            self._part(name, solids)

    def _part(self, name: str, solids: list[Any]) -> None:
        from OCP.BRepGProp import BRepGProp
        from OCP.GProp import GProp_GProps

        if len(self.parts) >= MOST_PARTS:
            raise ValueError(f"has more than {MOST_PARTS} parts; divide it")
        found = []
        for solid in solids:
            properties = GProp_GProps()
            BRepGProp.VolumeProperties_s(solid, properties, True)
            centre, matrix = properties.CentreOfMass(), properties.MatrixOfInertia()
            inertia = [[matrix.Value(i, j) for j in (1, 2, 3)] for i in (1, 2, 3)]
            found.append([properties.Mass(), [centre.X(), centre.Y(), centre.Z()], inertia])
        corners = [corner for solid in solids for corner in self._surface(solid)]
        self.parts.append({"name": name, "solids": found, "corners": corners})

    def _surface(self, solid: Any) -> list[list[list[float]]]:
        """Triangles of a solid, each by its corners."""
        from OCP.Bnd import Bnd_Box
        from OCP.BRep import BRep_Tool
        from OCP.BRepBndLib import BRepBndLib
        from OCP.BRepMesh import BRepMesh_IncrementalMesh
        from OCP.TopAbs import TopAbs_FACE, TopAbs_REVERSED
        from OCP.TopExp import TopExp_Explorer
        from OCP.TopLoc import TopLoc_Location
        from OCP.TopoDS import TopoDS

        box = Bnd_Box()
        BRepBndLib.Add_s(solid, box)
        size = box.SquareExtent() ** 0.5
        BRepMesh_IncrementalMesh(solid, max(FINE * size, 1e-9), False, 0.5, False)
        corners = []
        faces = TopExp_Explorer(solid, TopAbs_FACE)
        cast = getattr(TopoDS, "Face_s", None) or TopoDS.Face
        while faces.More():
            face = cast(faces.Current())
            place = TopLoc_Location()
            mesh = BRep_Tool.Triangulation_s(face, place)
            faces.Next()
            if mesh is None:
                continue
            turn = place.Transformation()
            points = [mesh.Node(k).Transformed(turn) for k in range(1, mesh.NbNodes() + 1)]
            rows = [[point.X(), point.Y(), point.Z()] for point in points]
            self.triangles += mesh.NbTriangles()
            if self.triangles > MOST_TRIANGLES:
                return []
            for k in range(1, mesh.NbTriangles() + 1):
                a, b, c = mesh.Triangle(k).Get()
                if face.Orientation() == TopAbs_REVERSED:
                    b, c = c, b
                corners.append([rows[a - 1], rows[b - 1], rows[c - 1]])
        return corners


def _labels() -> Any:
    """An empty sequence of labels; it moved with OpenCASCADE 8."""
    import OCP.TDF

    if hasattr(OCP.TDF, "TDF_LabelSequence"):
        return OCP.TDF.TDF_LabelSequence()
    from OCP.collections import Sequence_TDF_Label

    return Sequence_TDF_Label()


def _solids(shape: Any) -> list[Any]:
    from OCP.TopAbs import TopAbs_SOLID
    from OCP.TopExp import TopExp_Explorer

    found, explorer = [], TopExp_Explorer(shape, TopAbs_SOLID)
    while explorer.More():
        found.append(explorer.Current())
        explorer.Next()
    return found


def _name(label: Any) -> str:
    from OCP.TDataStd import TDataStd_Name

    name = TDataStd_Name()
    if not label.FindAttribute(TDataStd_Name.GetID_s(), name):
        return ""
    return str(name.Get().ToExtString()).strip()
