"""Change a joint's type in full motion, add and remove parts, and read what it cost.

Every change is an edit, applied between two steps. Poses and velocities stay; what the new joints do not
allow is taken out by their impulses, and the answer says what energy and momentum that took. The books
stay closed: an edit has its own entry.
"""

import impulsar as im

world = im.World(im.scene("ten-pendula", start="horizontal"), dt=0.01)
world.step(40)
for changes in ({"type": "spherical"}, {"type": "fixed"}, {"type": "revolute", "axis": (1, 0, 0)}):
    answer = world.change("hinge5", **changes)
    print(f"t = {world.time:.2f} s: {answer.text}; {answer.energy:+.3e} J, bodies moved {answer.moved:.1e} m")
    world.step(20)

world.add("body", "bob", mass=0.05, inertia=(1e-5, 1e-5, 1e-5), position=tuple(world.point("link10", (0, 0, -0.025))))
answer = world.add("joint", "weld", type="fixed", first="link10", second="bob", at=tuple(world.body("bob").position))
print(f"a bob at rest is welded to the moving tip: {answer.energy:+.3e} J")
world.set("bob.mass", 0.1)
world.remove("joint", "hinge5")  # half of the chain falls
world.step(50)
print(f"link10 is at z = {world.body('link10').position[2]:.3f} m")
print(world.energy())
