"""Random shapes in random poses, and what coal says of them."""

import numpy as np

from impulsar.author.rotations import rotation_matrix
from impulsar.author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Sphere


def random_shape(kind, rng):
    a, b, c = rng.uniform(0.1, 0.4, 3)
    if kind == "sphere":
        return Sphere(a)
    if kind == "capsule":
        return Capsule(a / 2, b)
    if kind == "box":
        return Box((a, b, c))
    if kind == "cylinder":
        return Cylinder(a / 2, b)
    if kind == "cone":
        return Cone(a / 2, b)
    if kind == "plane":
        return Plane()
    points = rng.normal(size=(24, 3))
    return ConvexHull(points / np.linalg.norm(points, axis=1)[:, None] * (a, b, c) / 2)


def random_pairs(first, second, n, seed=0, spread=0.35):
    """Shapes (n each) and poses p (n, 2, 3), q (n, 2, 4); about half of them overlap."""
    rng = np.random.default_rng(seed)
    firsts = [random_shape(first, rng) for _ in range(n)]
    seconds = [random_shape(second, rng) for _ in range(n)]
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    p = rng.normal(size=(n, 2, 3))
    p[:, 1] = p[:, 0] + direction * rng.uniform(0, spread, (n, 1))
    q = rng.normal(size=(n, 2, 4))
    return firsts, seconds, p, q / np.linalg.norm(q, axis=2)[:, :, None]


def coal_shape(coal, shape):
    if isinstance(shape, Box):
        return coal.Box(*map(float, shape.size))
    if isinstance(shape, ConvexHull):
        points = coal.StdVec_Vec3s()
        points.extend([np.array(p) for p in shape.points])
        return coal.Convex.convexHull(points, True, "Qt")
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    return getattr(coal, type(shape).__name__)(shape.radius, shape.length)


def coal_gaps(coal, firsts, seconds, p, q, tolerance=1e-10):
    """Signed gaps of pairs."""
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = 1e-12
    request.epa_tolerance = tolerance
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    gaps = []
    for a, b, pp, qq in zip(firsts, seconds, p, q, strict=True):
        result = coal.DistanceResult()
        places = [coal.Transform3s(rotation_matrix(qk), pk) for pk, qk in zip(pp, qq, strict=True)]
        gaps.append(coal.distance(coal_shape(coal, a), places[0], coal_shape(coal, b), places[1], request, result))
    return np.array(gaps)


def support(shape, p, q, d):
    """Farthest point of a shape in direction d, by its definition."""
    R = rotation_matrix(q)
    u = R.T @ d
    if isinstance(shape, Box):
        x = np.where(u < 0, -1, 1) * np.asarray(shape.size) / 2
    elif isinstance(shape, ConvexHull):
        x = shape.points[np.argmax(shape.points @ u)]
    else:
        half = getattr(shape, "length", 0.0) / 2
        across = np.hypot(u[0], u[1])
        rim = shape.radius * np.array([u[0], u[1], 0.0]) / across if across > 0 else np.zeros(3)
        end = np.array([0, 0, half])
        if isinstance(shape, Cone):
            x = max(end, rim - end, key=lambda y: y @ u)
        elif isinstance(shape, Cylinder):
            x = rim + np.sign(u[2]) * end
        else:
            x = np.sign(u[2]) * end + shape.radius * u / np.linalg.norm(u)
    return p + R @ x
