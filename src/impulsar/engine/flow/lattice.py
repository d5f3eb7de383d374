"""A lattice-Boltzmann step, D3Q19, two relaxation times (Ginzburg 2008), incompressible equilibrium (He and Luo 1997).

    stream      g_i(x) ← g_i(x - e_i) of the last step; behind a wall g_ī(x) + 6 w_i e_i · u_w (half-way, Ladd 1994),
                behind an open side -g_ī(x) + 2 w_i (9/2 (e_i · u)² - 3/2 u²): no pressure there
    moments     δρ = Σ g_i,  u = Σ e_i g_i + F / 2
    equilibrium even  w_i (δρ + 9/2 (e_i · u)² - 3/2 u²),  odd  3 w_i e_i · u
    collide     Ω_i = -ω+ (g+ - g+eq) - ω- (g- - g-eq) + forces, which give exactly F (Guo 2002, by even and odd parts)
    bodies      a link that a surface cuts at the share q of its length is thrown back there (CLI of Ginzburg 2008):
                g_i(x) ← g_ī(x) + κ (g_ī(x + e_i) - g_i(x)) + 12 w_i e_i · u_w / (1 + 2q),  κ = (1 - 2q) / (1 + 2q)
                and the body has -e_i (g_ī(x) + g_i(x)) of it: fluid and bodies together keep their momentum
    inside      cells whose middles are in a body move with it, at the density that streams there, for when it leaves

A thread a cell reads what it needs and writes its own populations: no atomics, the same bits every run, in any number
of sub-domains. ν = (1/ω+ - 1/2) / 3; (1/ω+ - 1/2)(1/ω- - 1/2) = 3/16, for which walls are half-way for every ν.
"""

import warp as wp

from ..spatial import HALF, ONE, TWO, ZERO, f64, vec3
from .arrays import (
    FLUID,
    OPEN,
    PERIODIC,
    WAYS,
    LatticeArrays,
    SolidArrays,
    cell_at,
    even_part,
    momentum_of,
    populations,
    vec19,
)
from .solids import bounce, velocity_of

THREE = wp.constant(wp.float64(3.0))
SIX = wp.constant(wp.float64(6.0))
MAGIC = 3.0 / 16.0


@wp.func
def come(
    L: wp.ref[LatticeArrays], S: wp.ref[SolidArrays], g: wp.ref[populations], i: int, x: int, y: int, z: int
) -> f64:
    """What comes to a cell along e_i."""
    own = cell_at(L, x, y, z)
    e = L.way[i]
    at_x = x - e[0]
    at_y = y - e[1]
    at_z = z - e[2]
    wall = int(-1)
    plane = L.first + at_x - 1
    if (plane < 0 or plane >= L.size[0]) and L.side[0] != PERIODIC:
        wall = 0
        if plane >= 0:
            wall = 1
    if at_y < 0 or at_y >= L.size[1]:
        if L.side[2] == PERIODIC:
            at_y = (at_y + L.size[1]) % L.size[1]
        else:
            wall = 2
            if at_y > 0:
                wall = 3
    if at_z < 0 or at_z >= L.size[2]:
        if L.side[4] == PERIODIC:
            at_z = (at_z + L.size[2]) % L.size[2]
        else:
            wall = 4
            if at_z > 0:
                wall = 5
    if wall < 0:
        there = cell_at(L, at_x, at_y, at_z)
        if L.solid.shape[0] > 0 and L.solid[there] < FLUID and L.solid[own] == FLUID:
            return bounce(L, S, g, L.solid[there], i, x, y, z)
        return g[i, there]
    back = i + 1
    if i % 2 == 0:
        back = i - 1
    e_w = vec3(f64(e[0]), f64(e[1]), f64(e[2]))
    if L.side[wall] == OPEN:
        u = L.u[own]
        return TWO * even_part(L.weight[i], ZERO, wp.dot(e_w, u), wp.dot(u, u)) - g[back, own]
    return g[back, own] + SIX * L.weight[i] * wp.dot(e_w, L.slip[wall])


@wp.kernel(enable_backward=False)
def step_cells(L: LatticeArrays, S: SolidArrays, g: populations, out: populations):
    """Stream and collide, from g to out."""
    x, y, z = wp.tid()
    x += 1
    own = cell_at(L, x, y, z)
    f = vec19()
    f[0] = g[0, own]
    density = f[0]
    m = vec3()
    for i in range(1, WAYS):
        f[i] = come(L, S, g, i, x, y, z)
        e = L.way[i]
        density += f[i]
        m += f[i] * vec3(f64(e[0]), f64(e[1]), f64(e[2]))
    inside = int(FLUID)
    if L.solid.shape[0] > 0:
        inside = L.solid[own]
    if inside < FLUID:
        u_s = velocity_of(L, S, inside, x, y, z, ZERO, 0)
        for i in range(WAYS):
            e = L.way[i]
            along = wp.dot(vec3(f64(e[0]), f64(e[1]), f64(e[2])), u_s)
            out[i, own] = even_part(L.weight[i], density, along, wp.dot(u_s, u_s)) + THREE * L.weight[i] * along
        L.u[own] = u_s
        return
    F = L.drive[0]
    if L.push.shape[0] > 0:
        F += L.push[own]
    u = m + HALF * F
    square = wp.dot(u, u)
    uF = wp.dot(u, F)
    off = f[0] - even_part(L.weight[0], density, ZERO, square)
    out[0, own] = f[0] - L.even * off - (ONE - HALF * L.even) * L.weight[0] * THREE * uF
    pairs = int(9)  # no constant: a loop of constants is unrolled
    for pair in range(pairs):
        i = 2 * pair + 1
        weight = L.weight[i]
        e = L.way[i]
        e_i = vec3(f64(e[0]), f64(e[1]), f64(e[2]))
        along = wp.dot(e_i, u)
        eF = wp.dot(e_i, F)
        even = -L.even * (HALF * (f[i] + f[i + 1]) - even_part(weight, density, along, square))
        even += (ONE - HALF * L.even) * weight * (f64(9.0) * along * eF - THREE * uF)
        odd = -L.odd * (HALF * (f[i] - f[i + 1]) - THREE * weight * along)
        odd += (ONE - HALF * L.odd) * THREE * weight * eF
        out[i, own] = f[i] + even + odd
        out[i + 1, own] = f[i + 1] + even - odd
    L.u[own] = u


@wp.kernel(enable_backward=False)
def copy_plane(L: LatticeArrays, g: populations, source: int, target: int):
    """A plane of populations and velocities to a plane of copies."""
    y, z = wp.tid()
    i = cell_at(L, source, y, z)
    j = cell_at(L, target, y, z)
    for k in range(g.shape[0]):
        g[k, j] = g[k, i]
    L.u[j] = L.u[i]


@wp.kernel(enable_backward=False)
def rest(L: LatticeArrays, g: populations, density: wp.array(dtype=f64)):
    """Populations of the equilibrium with the velocities in u and these excess densities."""
    c = wp.tid()
    u = L.u[c]
    for i in range(g.shape[0]):
        e = L.way[i]
        along = wp.dot(vec3(f64(e[0]), f64(e[1]), f64(e[2])), u)
        g[i, c] = even_part(L.weight[i], density[c], along, wp.dot(u, u)) + THREE * L.weight[i] * along


@wp.kernel(enable_backward=False)
def add_planes(L: LatticeArrays, g: populations, sums: wp.array(dtype=vec3)):
    """Momentum of the fluid in each plane, cells in order."""
    x = wp.tid()
    total = vec3()
    for y in range(L.size[1]):
        for z in range(L.size[2]):
            c = cell_at(L, x + 1, y, z)
            if L.solid.shape[0] == 0 or L.solid[c] == FLUID:
                total += momentum_of(L, g, c)
    sums[x] = total


@wp.kernel(enable_backward=False)
def scale(L: LatticeArrays, by: f64):
    """What points give, a share of it."""
    c = wp.tid()
    L.push[c] = by * L.push[c]
