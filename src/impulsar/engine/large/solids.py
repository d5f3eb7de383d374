"""Which shapes of a large world touch: convex ones of bodies, among them and with those of the ground.

    levels     bodies by size, each twice as large as the one before, a grid each; all in one sorted list of cells
    near       pairs of bodies whose balls meet: a body looks into the cells about it, of its own level and of larger
               ones; obstacles are looked at by all
    points     of a pair, by the functions of small worlds (engine/collide): counted, scanned, filled; a lane of scratch
               works through every so many pairs
    inherited  a point near one that was there before, in either body, has its impulses; its pair the colour

A pair has its shapes' points together, so that no two of one colour share a body.
"""

import warp as wp

from ..collide.arrays import PLANE, CollideScratch, ShapeArrays
from ..collide.cores import Core
from ..collide.matching import NEAREST
from ..collide.pairs import collide_convex
from ..spatial import ONE, ZERO, angular, f64, linear, quat, rotation_matrix, vec3, zero3
from ..state import WorkArrays
from .arrays import LargeArrays, whole
from .touch import LAST_COLOUR, UNCOLOURED, ContactList, Grid, Margin, number_of, solved_here

SPREAD = wp.constant(40503)  # cells by which levels are apart in the list

places = wp.array(dtype=vec3)


@wp.struct
class SolidArrays:
    """Shapes of kinds of bodies, then of the ground, and what they are like against each other."""

    shapes: ShapeArrays
    begin: whole  # [kind + 1] shapes of a kind of body
    ground: wp.int32  # the ground's first shape; the others follow
    obstacles: wp.int32  # and how many it has
    reach: wp.array(dtype=f64)  # [kind] radius about the centre of mass that holds its shapes; 0: it has none [m]
    level: whole  # [kind]
    used: whole  # [level] whether a body has it
    material: whole  # [shape]
    friction: wp.array2d(dtype=f64)  # [material, material] while it slides
    holding: wp.array2d(dtype=f64)  # while it sticks
    restitution: wp.array2d(dtype=f64)
    excluded: wp.array(dtype=wp.int64)  # first · things + second, ascending; things: bodies, then obstacles


@wp.struct
class Points:
    """Where pairs touch."""

    begin: whole  # [pair + 1]
    on_first: places  # [point] in the first body's frame, on its surface [m]
    on_second: places
    normal: places  # from the first to the second, in the frame of the body whose face it is
    side: whole  # which body that is
    shapes: wp.array(dtype=wp.vec2i)  # of the first and the second
    push: wp.array(dtype=f64)  # impulses of the last sub-step [N s]
    slip: places
    before: wp.array(dtype=f64)  # speed along the normal when the step began [m/s]


@wp.func
def level_edge(g: wp.ref[Grid], level: int) -> f64:
    edge = g.edge
    for _ in range(level):
        edge = edge + edge
    return edge


@wp.func
def cell_number(g: wp.ref[Grid], x: int, y: int, z: int, level: int) -> int:
    return (number_of(g, x, y, z) + SPREAD * level) & (g.begin.shape[0] - 1)


@wp.func
def cell_at(p: vec3, edge: f64) -> wp.vec3i:
    return wp.vec3i(int(wp.floor(p[0] / edge)), int(wp.floor(p[1] / edge)), int(wp.floor(p[2] / edge)))


@wp.kernel(enable_backward=False)
def number_solid_cells(x: WorkArrays, a: LargeArrays, s: SolidArrays, g: Grid):
    body = wp.tid()
    level = s.level[a.kind[body]]
    c = cell_at(x.p_WB[body, 0], level_edge(g, level))
    g.cell[body] = cell_number(g, c[0], c[1], c[2], level)
    g.body[body] = body


@wp.func
def is_left_out(s: wp.ref[SolidArrays], code: wp.int64) -> bool:
    """Whether a pair never touches, by halving the sorted list."""
    low = int(0)
    high = s.excluded.shape[0]
    while low < high:
        middle = (low + high) // 2
        if s.excluded[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low < s.excluded.shape[0]:
        return s.excluded[low] == code
    return False


@wp.func
def may_meet(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], s: wp.ref[SolidArrays], i: int, j: int, margin: f64):
    reach = s.reach[a.kind[i]] + s.reach[a.kind[j]] + margin
    if s.reach[a.kind[j]] == ZERO or wp.length_sq(x.p_WB[j, 0] - x.p_WB[i, 0]) > reach * reach:
        return False
    things = wp.int64(x.p_WB.shape[0] + s.obstacles)
    return not is_left_out(s, wp.int64(wp.min(i, j)) * things + wp.int64(wp.max(i, j)))


@wp.func
def pair_margin(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], s: wp.ref[SolidArrays], i: int, j: int, m: Margin):
    """A gap that a pair may close within the step, by the speed of its points against each other [m]."""
    V = x.twist[i, 0]
    v = linear(V)
    turn = s.reach[a.kind[i]] * wp.length(angular(V))
    if j >= 0:
        V_j = x.twist[j, 0]
        v -= linear(V_j)
        turn += s.reach[a.kind[j]] * wp.length(angular(V_j))
    return wp.min(wp.max(m.rest, m.span * (wp.length(v) + turn)), m.most)


@wp.func
def may_meet_ground(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], s: wp.ref[SolidArrays], i: int, k: int, margin: f64):
    shape = s.ground + k
    reach = s.reach[a.kind[i]] + margin
    d = wp.quat_rotate_inv(s.shapes.q_BS[shape], x.p_WB[i, 0] - s.shapes.p_BS[shape])
    if s.shapes.kind[shape] == PLANE:
        if d[2] > reach:
            return False
    else:
        d = d - s.shapes.middle[shape]
        reach = reach + s.shapes.radius[shape]
        for axis in range(3):
            if wp.abs(d[axis]) > s.shapes.half[shape][axis] + reach:
                return False
    n = x.p_WB.shape[0]
    return not is_left_out(s, wp.int64(i) * wp.int64(n + s.obstacles) + wp.int64(n + k))


@wp.kernel(enable_backward=False)
def list_near(
    x: WorkArrays, a: LargeArrays, s: SolidArrays, g: Grid, m: Margin, fills: int, count: whole, c: ContactList
):
    """How many pairs each body is the first of that may touch; with `fills` which."""
    i = wp.tid()
    found = int(0)
    if s.reach[a.kind[i]] > ZERO:
        own = s.level[a.kind[i]]
        for level in range(own, s.used.shape[0]):
            if s.used[level] != 0:
                at = cell_at(x.p_WB[i, 0], level_edge(g, level))
                for near in range(27):
                    cell = cell_number(
                        g, at[0] + near % 3 - 1, at[1] + (near // 3) % 3 - 1, at[2] + near // 9 - 1, level
                    )
                    for place in range(g.begin[cell], g.end[cell]):
                        j = g.body[place]
                        if s.level[a.kind[j]] == level and (level > own or j > i):
                            beside = j
                            if level > own:
                                beside = -1  # where the smaller is
                            margin = pair_margin(x, a, s, i, j, m)
                            if may_meet(x, a, s, i, j, margin) and solved_here(g, i, beside):
                                if fills != 0:
                                    c.first[c.begin[i] + found] = i
                                    c.second[c.begin[i] + found] = j
                                found += 1
        margin = pair_margin(x, a, s, i, -1, m)
        for k in range(s.obstacles):
            if may_meet_ground(x, a, s, i, k, margin) and solved_here(g, i, -1):
                if fills != 0:
                    c.first[c.begin[i] + found] = i
                    c.second[c.begin[i] + found] = -1 - k
                found += 1
    if fills == 0:
        count[i] = found


# points of pairs


@wp.func
def place_core(m: wp.ref[ShapeArrays], shape: int, p_WB: vec3, q_WB: quat) -> Core:
    """A shape of a body, as pairs of shapes want it."""
    c = Core()
    c.kind = m.kind[shape]
    c.p = p_WB + wp.quat_rotate(q_WB, m.p_BS[shape])
    c.R = rotation_matrix(q_WB * m.q_BS[shape])
    c.size = m.size[shape]
    c.radius = m.radius[shape]
    c.start = m.start[shape]
    c.count = m.count[shape]
    c.part_start = m.part_start[shape]
    c.part_count = m.part_count[shape]
    return c


@wp.func
def collide_shapes(
    s: wp.ref[SolidArrays],
    t: wp.ref[CollideScratch],
    a: int,
    b: int,
    d: vec3,
    q_a: quat,
    q_b: quat,
    margin: f64,
    lane: int,
) -> int:
    """Contacts into `out_*`, from the first body's place, which the second's is d from; normals from a to b."""
    A = place_core(s.shapes, a, zero3(), q_a)
    B = place_core(s.shapes, b, d, q_b)
    size = wp.min(s.shapes.reach[a], s.shapes.reach[b])
    if s.shapes.kind[a] <= s.shapes.kind[b]:
        return collide_convex(s.shapes, t, A, B, margin, size, lane)
    found = collide_convex(s.shapes, t, B, A, margin, size, lane)
    for k in range(found):
        t.out_normal[k, lane] = -t.out_normal[k, lane]
        t.out_side[k, lane] = 1 - t.out_side[k, lane]
    return found


@wp.func
def put_point(t: wp.ref[CollideScratch], p: wp.ref[Points], at: int, k: int, d: vec3, q_a: quat, q_b: quat, lane: int):
    """Contact k of a pair of shapes into place `at`."""
    n = t.out_normal[k, lane]
    first = t.out_point[k, lane]
    second = first
    side = t.out_side[k, lane]
    if side == 0:
        second = first + t.out_gap[k, lane] * n
        p.normal[at] = wp.quat_rotate_inv(q_a, n)
    else:
        first = second - t.out_gap[k, lane] * n
        p.normal[at] = wp.quat_rotate_inv(q_b, n)
    p.side[at] = side
    p.on_first[at] = wp.quat_rotate_inv(q_a, first)
    p.on_second[at] = wp.quat_rotate_inv(q_b, second - d)
    p.push[at] = ZERO
    p.slip[at] = vec3()


@wp.kernel(enable_backward=False)
def list_points(
    x: WorkArrays,
    a: LargeArrays,
    s: SolidArrays,
    t: CollideScratch,
    c: ContactList,
    pairs: int,
    m: Margin,
    fills: int,
    count: whole,
    p: Points,
):
    """How many points each pair has; with `fills` which. The pairs lane, lane + lanes, ..."""
    lane = wp.tid()
    pair = lane
    while pair < pairs:
        i = c.first[pair]
        j = c.second[pair]
        d = -x.p_WB[i, 0]
        q_b = quat(ZERO, ZERO, ZERO, ONE)
        begin = s.ground - 1 - j
        end = begin + 1
        if j >= 0:
            d = x.p_WB[j, 0] - x.p_WB[i, 0]
            q_b = x.q_WB[j, 0]
            begin = s.begin[a.kind[j]]
            end = s.begin[a.kind[j] + 1]
        margin = pair_margin(x, a, s, i, j, m)
        found = int(0)
        for one in range(s.begin[a.kind[i]], s.begin[a.kind[i] + 1]):
            for two in range(begin, end):
                many = collide_shapes(s, t, one, two, d, x.q_WB[i, 0], q_b, margin, lane)
                if fills != 0:
                    for k in range(many):
                        at = p.begin[pair] + found + k
                        put_point(t, p, at, k, d, x.q_WB[i, 0], q_b, lane)
                        p.shapes[at] = wp.vec2i(one, two)
                found += many
        if fills == 0:
            count[pair] = found
        pair += t.out_gap.shape[1]


@wp.kernel(enable_backward=False)
def flag_touching(points: whole, flag: whole):
    k = wp.tid()
    flag[k] = wp.min(points[k], 1)


@wp.kernel(enable_backward=False)
def keep_touching(near: ContactList, points: whole, place: whole, c: ContactList, count: whole):
    """Pairs that have points, in order; `place` counts those up to each."""
    k = wp.tid()
    if points[k] > 0:
        at = place[k] - 1
        c.first[at] = near.first[k]
        c.second[at] = near.second[k]
        count[at] = points[k]


@wp.kernel(enable_backward=False)
def keep_begins(near: ContactList, place: whole, c: ContactList):
    body = wp.tid()
    c.begin[body] = 0
    if near.begin[body] > 0:
        c.begin[body] = place[near.begin[body] - 1]


@wp.func
def match_point(s: wp.ref[SolidArrays], p: wp.ref[Points], at: int, old: wp.ref[Points], before: int):
    """Take over from the nearest point of a pair as it was before, each of which gives once."""
    two = p.shapes[at]
    least = NEAREST * wp.min(s.shapes.reach[two[0]], s.shapes.reach[two[1]])
    best = int(-1)
    for k in range(old.begin[before], old.begin[before + 1]):
        if old.shapes[k][0] == two[0] and old.shapes[k][1] == two[1] and old.side[k] < 2:
            far = wp.min(wp.length(old.on_first[k] - p.on_first[at]), wp.length(old.on_second[k] - p.on_second[at]))
            if far < least:
                least = far
                best = k
    if best >= 0:
        old.side[best] = 2
        p.push[at] = old.push[best]
        p.slip[at] = old.slip[best]


@wp.kernel(enable_backward=False)
def inherit_points(s: SolidArrays, c: ContactList, p: Points, old_list: ContactList, old: Points):
    """Colour of a pair and impulses of its points, where they were there before."""
    k = wp.tid()
    i = c.first[k]
    c.colour[k] = UNCOLOURED
    for before in range(old_list.begin[i], old_list.begin[i + 1]):
        if old_list.second[before] == c.second[k]:
            if old_list.colour[before] < LAST_COLOUR:
                c.colour[k] = old_list.colour[before]
            for at in range(p.begin[k], p.begin[k + 1]):
                match_point(s, p, at, old, before)


@wp.kernel(enable_backward=False)
def fastest_solid(x: WorkArrays, a: LargeArrays, s: SolidArrays, speeds: wp.array(dtype=f64)):
    """The largest speed of a point of the bodies share, share + shares, ... [m/s]."""
    share = wp.tid()
    found = ZERO
    body = share
    while body < x.p_WB.shape[0]:
        V = x.twist[body, 0]
        found = wp.max(found, wp.length(linear(V)) + s.reach[a.kind[body]] * wp.length(angular(V)))
        body += speeds.shape[0]
    speeds[share] = found
