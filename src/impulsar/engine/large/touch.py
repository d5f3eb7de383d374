"""Which spheres touch each other and planes, a thread a body; and in which order contacts are swept.

    cells      bodies sorted by cells of a grid that repeats itself, stable: in a cell in the order of their numbers
    contacts   pairs with a gap that a step may close, in the order of their first bodies: counted, scanned, filled
    inherited  a contact that was there before has its impulses and its colour
    coloured   no two contacts of a colour share a body; a new one takes the lowest that is free in both, once its mixed
               number is the least of all new ones at both
    queue      contacts in the order of their colours, in which they are swept

Atomics are sums of whole numbers and largest values, so the same bodies give the same contacts in the same order.
"""

import warp as wp

from ..spatial import ZERO, f64, linear, vec3
from ..state import WorkArrays
from .arrays import LargeArrays, whole

UNCOLOURED = wp.constant(-1)
LARGEST = wp.constant(2147483647)
LAST_COLOUR = wp.constant(62)  # of contacts that find none free at both bodies

longs = wp.array(dtype=wp.int64)
places = wp.array(dtype=vec3)


@wp.struct
class ContactList:
    """Contacts in order of their first bodies; the second is a body, or -1 - plane."""

    first: whole  # [contact]
    second: whole
    begin: whole  # [body + 1]
    colour: whole
    normal: wp.array(dtype=f64)  # impulses of the last sub-step [N s]
    slip: wp.array(dtype=vec3)


@wp.struct
class Queue:
    """Contacts in the order of their colours; within one in the order of their numbers."""

    colour: whole  # [2 · contact] of each contact, sorted in its first half
    contact: whole  # [2 · contact] contacts in that order
    begin: whole  # [colour] first place of its contacts
    end: whole


@wp.struct
class Grid:
    """A grid whose cells repeat after 2^k in each direction."""

    edge: f64  # of a cell [m]
    mask: wp.vec3i  # cells in each direction, less one
    cell: whole  # [2 · body] of each body, sorted in its first half
    body: whole  # [2 · body] bodies in that order
    begin: whole  # [cell] first place of its bodies
    end: whole
    speed: wp.array(dtype=wp.float32)  # [cell] the largest of its bodies; empty where nobody asks [m/s]
    home: whole  # [body] of parts of a world: its place's part, which solves for it. Empty: all is here
    here: wp.int32  # who this is


@wp.struct
class Margin:
    """Gaps of spheres that are contacts."""

    span: f64  # of a step [s]
    rest: f64  # of bodies that hardly move [m]
    pushed: f64  # the most for those that what is near may push [m]
    most: f64  # for those that go against each other [m]


@wp.func
def solved_here(g: wp.ref[Grid], i: int, j: int) -> bool:
    """Whether this part of a world solves contacts of a pair, by the lower of its homes, or where i is (j < 0)."""
    if g.home.shape[0] == 0:
        return True
    home = g.home[i]
    if j >= 0:
        home = wp.min(home, g.home[j])
    return home == g.here


@wp.func
def cell_of(g: wp.ref[Grid], p: vec3) -> wp.vec3i:
    return wp.vec3i(int(wp.floor(p[0] / g.edge)), int(wp.floor(p[1] / g.edge)), int(wp.floor(p[2] / g.edge)))


@wp.func
def number_of(g: wp.ref[Grid], x: int, y: int, z: int) -> int:
    return ((z & g.mask[2]) * (g.mask[1] + 1) + (y & g.mask[1])) * (g.mask[0] + 1) + (x & g.mask[0])


@wp.kernel(enable_backward=False)
def number_cells(x: WorkArrays, g: Grid):
    body = wp.tid()
    c = cell_of(g, x.p_WB[body, 0])
    own = number_of(g, c[0], c[1], c[2])
    g.cell[body] = own
    g.body[body] = body
    wp.atomic_max(g.speed, own, wp.float32(wp.length(linear(x.twist[body, 0]))))


@wp.func
def mark_run(key: whole, at: int, many: int, begin: whole, end: whole):
    """Where equal ones among the first sorted keys begin and end, if that is at this place."""
    own = key[at]
    if at == 0 or key[at - 1] != own:
        begin[own] = at
    if at == many - 1 or key[at + 1] != own:
        end[own] = at + 1


@wp.kernel(enable_backward=False)
def find_cells(g: Grid, bodies: int):
    """Where each cell's bodies begin and end; cells without any keep begin = end = 0."""
    mark_run(g.cell, wp.tid(), bodies, g.begin, g.end)


@wp.func
def gap_between(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], i: int, j: int) -> f64:
    d = x.p_WB[j, 0] - x.p_WB[i, 0]
    return wp.length(d) - a.radius[a.kind[i]] - a.radius[a.kind[j]]


@wp.func
def gap_to_plane(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], i: int, k: int) -> f64:
    return wp.dot(a.plane_normal[k], x.p_WB[i, 0]) - a.plane_offset[k] - a.radius[a.kind[i]]


@wp.func
def about(at: wp.vec3i, near: int) -> wp.vec3i:
    """One of the 27 cells about a cell."""
    return at + wp.vec3i(near % 3 - 1, (near // 3) % 3 - 1, near // 9 - 1)


@wp.func
def least_margin(g: wp.ref[Grid], m: wp.ref[Margin], at: wp.vec3i) -> f64:
    """What is fast near a body may push it within the step, towards others that it did not move against."""
    fastest = wp.float32(0.0)
    for near in range(27):
        c = about(at, near)
        fastest = wp.max(fastest, g.speed[number_of(g, c[0], c[1], c[2])])
    return wp.min(m.rest + f64(2.0) * m.span * f64(fastest), m.pushed)


@wp.func
def may_close(x: wp.ref[WorkArrays], m: wp.ref[Margin], i: int, j: int, gap: f64, least: f64) -> bool:
    """Whether a gap is within the margin, and the way that both bodies go against each other."""
    if gap < least or gap >= m.most:
        return gap < least
    v = linear(x.twist[i, 0])
    if j >= 0:
        v -= linear(x.twist[j, 0])
    return gap < least + m.span * wp.length(v)


@wp.kernel(enable_backward=False)
def list_contacts(x: WorkArrays, a: LargeArrays, g: Grid, m: Margin, fills: int, count: whole, c: ContactList):
    """How many contacts each body is the first of; with `fills` which."""
    i = wp.tid()
    found = int(0)
    if a.radius[a.kind[i]] > ZERO:
        at = cell_of(g, x.p_WB[i, 0])
        least = least_margin(g, m, at)
        for near in range(27):
            one = about(at, near)
            own = number_of(g, one[0], one[1], one[2])
            for place in range(g.begin[own], g.end[own]):
                j = g.body[place]
                is_near = j > i and a.radius[a.kind[j]] > ZERO
                is_near = is_near and may_close(x, m, i, j, gap_between(x, a, i, j), least)
                if is_near and solved_here(g, i, j):
                    if fills != 0:
                        c.first[c.begin[i] + found] = i
                        c.second[c.begin[i] + found] = j
                    found += 1
        for k in range(a.plane_offset.shape[0]):
            if may_close(x, m, i, -1, gap_to_plane(x, a, i, k), least) and solved_here(g, i, -1):
                if fills != 0:
                    c.first[c.begin[i] + found] = i
                    c.second[c.begin[i] + found] = -1 - k
                found += 1
    if fills == 0:
        count[i] = found


@wp.kernel(enable_backward=False)
def inherit(c: ContactList, old: ContactList):
    """Impulses and colour of a contact that was there before."""
    k = wp.tid()
    i = c.first[k]
    c.colour[k] = UNCOLOURED
    c.normal[k] = ZERO
    c.slip[k] = vec3()
    for before in range(old.begin[i], old.begin[i + 1]):
        if old.second[before] == c.second[k]:
            c.colour[k] = old.colour[before]
            c.normal[k] = old.normal[before]
            c.slip[k] = old.slip[before]


@wp.func
def mixed(i: int, j: int) -> int:
    """A number of a pair in which near ones are far apart, 0 to 2^31 - 2."""
    n = wp.uint32(i) * wp.uint32(1640531527) + wp.uint32(j) * wp.uint32(668265263)
    n = (n ^ (n >> wp.uint32(15))) * wp.uint32(739990513)
    n = (n ^ (n >> wp.uint32(12))) * wp.uint32(314989261)
    return int((n ^ (n >> wp.uint32(15))) % wp.uint32(2147483647))


@wp.kernel(enable_backward=False)
def take_colours(c: ContactList, taken: longs):
    """Colours that are taken at each body, as bits; each is there once, so that sums are unions."""
    k = wp.tid()
    if c.colour[k] >= 0:
        bit = wp.int64(1) << wp.int64(c.colour[k])
        wp.atomic_add(taken, c.first[k], bit)
        if c.second[k] >= 0:
            wp.atomic_add(taken, c.second[k], bit)


@wp.kernel(enable_backward=False)
def bid(c: ContactList, least: whole):
    k = wp.tid()
    if c.colour[k] < 0:
        n = mixed(c.first[k], c.second[k])
        wp.atomic_min(least, c.first[k], n)
        if c.second[k] >= 0:
            wp.atomic_min(least, c.second[k], n)


@wp.kernel(enable_backward=False)
def choose(c: ContactList, least: whole, taken: longs, left: whole):
    """A new contact that won both bodies takes a colour; how many are left over is counted."""
    k = wp.tid()
    if c.colour[k] >= 0:
        return
    i = c.first[k]
    j = c.second[k]
    n = mixed(i, j)
    if least[i] != n or (j >= 0 and least[j] != n):
        wp.atomic_add(left, 0, 1)
        return
    busy = taken[i]
    if j >= 0:
        busy = busy | taken[j]
    colour = int(0)
    while colour < LAST_COLOUR and ((busy >> wp.int64(colour)) & wp.int64(1)) != wp.int64(0):
        colour += 1
    c.colour[k] = colour
    bit = wp.int64(1) << wp.int64(colour)
    taken[i] = taken[i] | bit
    if j >= 0:
        taken[j] = taken[j] | bit


@wp.kernel(enable_backward=False)
def give_last_colour(c: ContactList):
    """What no round took gets the last colour, of contacts that are swept one after the other."""
    k = wp.tid()
    if c.colour[k] < 0:
        c.colour[k] = LAST_COLOUR


@wp.kernel(enable_backward=False)
def queue_up(c: ContactList, q: Queue):
    """What is sorted by colours."""
    k = wp.tid()
    q.colour[k] = c.colour[k]
    q.contact[k] = k


@wp.kernel(enable_backward=False)
def find_colours(q: Queue, contacts: int):
    """Where each colour's contacts begin and end; colours without any keep begin = end = 0."""
    mark_run(q.colour, wp.tid(), contacts, q.begin, q.end)
