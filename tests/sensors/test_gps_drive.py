"""gps-drive (Wang 2011, Figs. 8 to 10): where there are fixes, how far off they are, and the track as files."""

import json
import math
from functools import cache
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import impulsar as im
from impulsar import tracks
from impulsar.cli import main
from impulsar.observe.gps import constellation, geodetic

EVERY = 0.5
STREET = slice(11, 30)  # samples, one a second at 8 m/s


@cache
def driven(**parameters) -> tuple[im.Model, im.World, tracks.Track]:
    model = im.scene("gps-drive", **parameters)
    world = im.World(model)
    return model, world, tracks.track(world.run(model.duration, EVERY, progress=False), model)


def test_the_car_drives_by_its_tyres():
    """At its speed through the middle of the street; the curve has the radius L / δ but for the slip of the tyres,
    K V² / L = 3 % by the bicycle model of these tyres, and the way to it and back."""
    _, _, track = driven()
    p = track.truth
    assert np.abs(np.diff(p[STREET, 0]) - 8.0).max() < 0.01 and np.abs(p[STREET, 1]).max() < 0.1
    assert p[:9, 1].max() == pytest.approx(3.0, rel=0.1)  # the lane
    assert np.ptp(p[33:, 1]) == pytest.approx(60.0, rel=0.1)
    assert p[:, 2] == pytest.approx(1.5, abs=1e-3)


def test_fixes_are_lost_under_the_arch_and_worse_in_the_street():
    """Open ground has all satellites above the mask and errors by its dilution; the street has both fixes and none."""
    _, _, track = driven()
    street = np.zeros(len(track.times), bool)
    street[STREET] = True
    assert track.valid[~street].all()
    assert 0 < (~track.valid[street]).sum() < track.valid[street].sum()
    assert np.array_equal(track.valid, track.satellites >= 4)
    assert track.satellites[street].min() < 4 <= track.satellites[~street].min()
    worst = 4.892 * math.hypot(3.0, 0.6) * track.hdop[~street]  # slow and white errors of a pseudo-range
    assert (track.errors[~street] < worst).all()
    assert np.nanmean(track.errors[street]) > 1.5 * track.errors[~street].mean()


def test_the_count_before_the_houses_is_that_of_the_sky():
    """Far from houses what is heard is what is above 5°, counted from elevations at the start's place alone."""
    _, _, track = driven()
    place, axes = geodetic(math.radians(39.98), math.radians(116.34), 0.0)
    for k in range(4):
        way = (constellation(6 * 3600.0 + track.times[k]) - place) @ axes.T
        up = way[:, 2] / np.linalg.norm(way, axis=1) > math.sin(math.radians(5.0))
        assert track.satellites[k] == up.sum()


def test_the_track_is_where_the_world_is_on_earth():
    """A metre east is 1 / ((N + h) cos φ) of longitude, to the curvature of 300 m: 1e-4; the clock is the epoch's."""
    _, _, track = driven()
    phi, e2 = math.radians(39.98), 6.69437999014e-3
    N = 6378137.0 / math.sqrt(1 - e2 * math.sin(phi) ** 2)
    M = N * (1 - e2) / (1 - e2 * math.sin(phi) ** 2)
    east = np.radians(track.places[:, 0] - 116.34) * N * math.cos(phi)
    north = np.radians(track.places[:, 1] - 39.98) * M
    assert east == pytest.approx(track.truth[:, 0], rel=1e-4, abs=1e-3)
    assert north == pytest.approx(track.truth[:, 1], rel=1e-4, abs=1e-2)
    assert track.places[:, 2] == pytest.approx(1.5, abs=0.01)
    assert str(track.clock[0]) == "1993-07-01T06:00:00.000" and str(track.clock[3]) == "1993-07-01T06:00:03.000"


def test_geojson_is_rfc_7946():
    _, _, track = driven()
    data = json.loads(json.dumps(tracks.geojson(track), allow_nan=False))
    assert set(data) == {"type", "features"} and data["type"] == "FeatureCollection"
    truth, fixes, *points = data["features"]
    for feature in data["features"]:
        assert set(feature) == {"type", "geometry", "properties"} and feature["type"] == "Feature"
    assert [len(line) for line in truth["geometry"]["coordinates"]] == [len(track.times)]
    lines = fixes["geometry"]["coordinates"]
    assert fixes["geometry"]["type"] == "MultiLineString" and len(lines) == 2  # before and behind the arch
    assert sum(map(len, lines)) == track.valid.sum() and all(len(line) >= 2 for line in lines)
    for longitude, latitude, height in (place for line in lines for place in line):
        assert abs(longitude - 116.34) < 0.01 and abs(latitude - 39.98) < 0.01 and abs(height) < 100
    assert len(points) == len(track.times)
    for k, point in enumerate(points):
        assert (point["geometry"] is None) == (not point["properties"]["fix"]) == (not track.valid[k])
        assert point["properties"]["satellites"] == track.satellites[k]


ORDER = {  # of children in KML 2.2: what comes before what
    "Document": ("name", "Style", "Placemark", "Folder"),
    "Placemark": ("name", "description", "TimeStamp", "styleUrl", "Point", "MultiGeometry"),
    "Folder": ("name", "Placemark"),
    "LineStyle": ("color", "width"),
}


def test_kml_is_of_its_schema():
    """Namespace, order of elements, ids that are there, coordinates as longitude, latitude, height."""
    _, _, track = driven()
    text = tracks.kml(track)
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "{http://www.opengis.net/kml/2.2}kml" and text.startswith(
        '<?xml version="1.0" encoding="UTF-8"?>'
    )
    bare = {element: element.tag.partition("}")[2] for element in root.iter()}
    for element in root.iter():
        order = ORDER.get(bare[element])
        if order:
            places = [order.index(bare[child]) for child in element]
            assert all(a <= b for a, b in pairwise(places))
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    assert {element.text[1:] for element in root.iter() if bare[element] == "styleUrl"} <= ids
    tuples = [c for e in root.iter() if bare[e] == "coordinates" for c in e.text.split()]
    found = np.array([list(map(float, c.split(","))) for c in tuples])
    assert found.shape == (len(track.times) + 2 * track.valid.sum(), 3)
    assert found[: len(track.times)] == pytest.approx(track.places, abs=1e-8)
    assert sum(bare[e] == "when" for e in root.iter()) == track.valid.sum()


def test_files_and_the_command_line(tmp_path, capsys):
    model, _, track = driven()
    for name in ("a.geojson", "a.kml", "a.png"):
        tracks.write(track, tmp_path / name)
    tracks.plot(track, tmp_path / "houses.png", model)
    assert json.loads((tmp_path / "a.geojson").read_text())["type"] == "FeatureCollection"
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG" == (tmp_path / "houses.png").read_bytes()[:4]
    for kind in ("geojson", "kml"):
        out = tmp_path / f"b.{kind}"
        assert main(["export", "gps-drive", "--to", kind, "--out", str(out), "--duration", "3"]) == 0
        assert "truth" in out.read_text() and out.name in capsys.readouterr().out
    assert main(["export", "four-bar", "--to", "kml"]) == 2
    assert "'four-bar' has no GPS receiver" in capsys.readouterr().err


def test_parameters_and_refusals():
    """Another hour has another sky; what is wrong is named."""
    assert im.scene("gps-drive", hour=7.5).sensors["gps"].sensor.time == 27000.0
    with pytest.raises(im.ModelError, match="hour is 24"):
        im.scene("gps-drive", hour=24.0)
    with pytest.raises(im.ModelError, match="width is 5"):
        im.scene("gps-drive", width=5.0)
    model = im.scene("gps-drive")
    world = im.World(model)
    result = world.run(2.0, 0.7, progress=False)
    with pytest.raises(im.ModelError, match="no rows at the times of some samples; run it with every = 1 s"):
        tracks.track(result, model)
    with pytest.raises(im.ModelError, match="no GPS receiver named 'gpss'"):
        tracks.track(result, model, "gpss")
