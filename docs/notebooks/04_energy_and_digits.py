# %% [markdown]
# # Energy books, and how many digits to trust
#
# Ten pendula in a row are chaotic. The energy books close to rounding of the tolerance, and still nobody can know where
# the last link is after half a minute. A certificate says up to when a result may be trusted, before it is used.

# %%
import impulsar as im

world = im.World(im.scene("ten-pendula", start="30deg"), rtol=1e-8, atol=1e-8)
result = world.run(4.0, every=0.02, progress=False)
result.impulsar.plot("energy", "probe")

# %% [markdown]
# Kinetic, potential and elastic energy, work done on it and losses: what these are out by is the imbalance. At a
# tighter tolerance it shrinks.

# %%
for rtol in (1e-5, 1e-7, 1e-9):
    books = im.World(im.scene("ten-pendula", start="30deg"), rtol=rtol, atol=rtol)
    books.run(2.0, every=1.0, progress=False)
    print(f"rtol {rtol:.0e}: books out by {abs(books.energy().imbalance):.1e} J")

# %% [markdown]
# `certify` takes copies of the run: at a tighter tolerance, by another method, in other coordinates. Digits are what
# all of them agree on.

# %%
certificate = im.World(im.scene("slider-crank")).certify(0.2, ["position", "reaction_force"])
print(certificate)
