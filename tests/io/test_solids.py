"""Solids of meshes: volume, centre and inertia by closed forms; what is open or too large is none."""

import numpy as np
import pytest

from impulsar.io.meshes import read_mesh
from impulsar.io.solids import MOST_TRIANGLES, solid_of

# corners of a wedge, anticlockwise seen from outside: half of a box of edges a, b, c, cut along the diagonal of x and y
EDGES = (0.3, 0.2, 0.5)
WEDGE = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)]) * EDGES
FACES = [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (0, 3, 5), (0, 5, 2), (1, 2, 5), (1, 5, 4)]


def test_a_wedge_has_the_inertia_of_its_closed_form() -> None:
    """V = abc/2; of the triangle about its centre ∫x² = a² V/18 and ∫xy = -ab V/36, along z c² V/12."""
    a, b, c = EDGES
    solid = solid_of(WEDGE[np.array(FACES)])
    assert solid is not None
    assert solid.volume == pytest.approx(a * b * c / 2, rel=1e-13)
    np.testing.assert_allclose(solid.vertices.min(axis=0), (-a / 3, -b / 3, -c / 2), rtol=1e-13)
    xx, yy, zz, xy = a * a / 18, b * b / 18, c * c / 12, -a * b / 36
    law = solid.volume * np.array([[yy + zz, -xy, 0], [-xy, xx + zz, 0], [0, 0, xx + yy]])
    np.testing.assert_allclose(solid.inertia, law, rtol=1e-12, atol=1e-16)
    turned = solid_of(WEDGE[np.array(FACES)[:, ::-1]])  # inside out is the same solid
    assert turned is not None and turned.volume == pytest.approx(solid.volume)


def test_what_is_open_or_too_large_is_no_solid() -> None:
    assert solid_of(WEDGE[np.array(FACES[:-1])]) is None
    assert solid_of(np.zeros((MOST_TRIANGLES + 1, 3, 3))) is None


def test_an_obj_file_keeps_its_faces() -> None:
    """Faces of four corners, and numbers that count back, are the same solid; a corner that is not there is told."""
    lines = [f"v {x} {y} {z}" for x, y, z in WEDGE] + [
        "f 1 3 2",
        "f 4/1 5/2 6/3",
        "f 1 2 5 4",
        "f 1 4 6 3",
        "f -5 -4 -1 -2",
    ]
    found = read_mesh("wedge.obj", "\n".join(lines).encode())
    assert found.triangles == 8 and found.solid is not None
    assert found.solid.volume == pytest.approx(np.prod(EDGES) / 2)
    np.testing.assert_allclose(found.size, EDGES)
    with pytest.raises(Exception, match="a corner that is not there"):
        read_mesh("wedge.obj", "\n".join([*lines, "f 1 2 9"]).encode())
