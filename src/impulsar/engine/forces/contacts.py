"""Contact forces of the last step as forces of an instant, for readings between steps."""

import warp as wp

from ..spatial import ZERO, spatial, vec3
from ..state import CONTACT_NUMBERS, Contact, StateArrays, WorkArrays
from ..system import SystemArrays


@wp.func(inline=False)
def add_contacts(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """What the state keeps of contacts, into x.wrench."""
    h = s.last_h[0, w]
    if h == ZERO:
        h = m.nominal_h[0]
    for i in range(int(s.contact[0, w])):
        at = 1 + CONTACT_NUMBERS * i
        force = vec3()
        point = vec3()
        for k in range(3):
            force[k] = s.contact[at + Contact.impulse + k, w] / h
            point[k] = s.contact[at + Contact.point + k, w]
        first = int(s.contact[at + Contact.on_first, w])
        second = int(s.contact[at + Contact.on_second, w])
        if first >= 0:
            turn = wp.cross(point - x.p_WB[first, w], force)
            x.wrench[first, w] = x.wrench[first, w] - spatial(turn, force)
        if second >= 0:
            turn = wp.cross(point - x.p_WB[second, w], force)
            x.wrench[second, w] = x.wrench[second, w] + spatial(turn, force)
