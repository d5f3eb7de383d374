"""Take hold of a running mechanism, pull it, let go, and read the energy books.

A hand is a spring and damper between a point of a body and a target that the user moves. `at` is in the
body's own frame, from its centre of mass: (0, 0, -0.025) is the free end of a link of 0.05 m. A `Ramp`
without a start begins where the hand is. The books list the work of the hand and the loss in its damper,
each integrated from its own force; what they are out by is the error of the integration.
"""

import impulsar as im

world = im.World(im.scene("ten-pendula", start="hanging"), dt=0.001)

hand = world.grab("link10", at=(0, 0, -0.025), stiffness=1000, damping=1)  # N/m, N s/m
hand.move(im.Ramp(None, (0.10, 0.25, -0.25), t0=0.0, t1=1.0))  # m, s
world.step(2000)
print(f"t = {world.time:.1f} s: the hand is at {world.point('link10', (0, 0, -0.025)).round(3)} m")
print(f"and pulls with {hand.force.round(3)} N")

hand.release()
world.step(500)
books = world.energy()
print(f"t = {world.time:.1f} s, released:")
print(books)
print(f"the books are out by {100 * books.imbalance / world.model.reference_energy:.1e} % of the reference energy")
