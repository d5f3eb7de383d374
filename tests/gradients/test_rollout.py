"""Rollouts: trajectories of a batch as a function of numbers, its Jacobian and its pull; and in PyTorch and JAX."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.world.rollout import Rollout

ROUND = np.diag([2.1e-5, 2.0e-5, 1.8e-5])  # [kg m²]
TO = ("link1.mass", "link2.inertia.xx", "hinge1.velocity")


def batch(worlds: int = 3) -> Rollout:
    world = im.World(im.scene("chain", n=2), method="simgc", dt=1e-3, worlds=worlds)
    world.set("link2.inertia", ROUND)
    return Rollout(world, of=("hinge1.position", "hinge2.position"), to=TO, duration=0.03, every=0.01)


def test_a_rollout_is_what_worlds_do_and_its_pull_the_transposed_jacobian() -> None:
    rollout, rng = batch(), np.random.default_rng(3)
    first = rollout.values()
    assert (first[:, 0] == rollout.world.model.bodies["link1"].mass).all() and not first[:, 2].any()
    values = first * (1 + 0.05 * rng.normal(size=first.shape))
    values[:, 2] = rng.normal(size=3)
    y, slopes = rollout.jacobian(values)
    assert y.shape == (3, 4, 2) == rollout.shape and slopes.shape == (3, 4, 2, 3)
    one = im.World(im.scene("chain", n=2), method="simgc", dt=1e-3)
    inertia = ROUND.copy()
    inertia[0, 0] = values[1, 1]
    one.set("link1.mass", values[1, 0])
    one.set("link2.inertia", inertia)
    one.state.numpy()[one.state.rows["v"].start] = values[1, 2]
    one.step(30)
    assert y[1, -1] == pytest.approx([one.joint(name).position for name in ("hinge1", "hinge2")], rel=1e-13)
    given = rng.normal(size=y.shape)
    assert rollout.pull(values, given) == pytest.approx(np.einsum("wso,wsot->wt", given, slopes), rel=1e-11)
    h = 1e-3 * values[:, :1]
    ways = [rollout(values + k * np.pad(h, ((0, 0), (0, 2)))) for k in (1, -1, 2, -2)]
    by_mass = (8 * (ways[0] - ways[1]) - (ways[2] - ways[3])) / (12 * h[:, None])
    assert slopes[..., 0] == pytest.approx(by_mass, rel=1e-9, abs=1e-11)


def test_a_rollout_says_what_it_is_given() -> None:
    with pytest.raises(ModelError, match=r"expected finite numbers \[3, 3\]"):
        batch()(np.zeros((2, 3)))
    with pytest.raises(ModelError, match=r"values are 'text', expected"):
        batch()("text")
    with pytest.raises(ModelError, match=r"weights are \(3, 2\) numbers, expected \(3, 4, 2\)"):
        batch().pull(batch().values(), np.zeros((3, 2)))


@pytest.mark.study
def test_gradients_flow_in_torch() -> None:
    """Σ y² back through the engine's adjoint; torch is not among the tools of this project."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

    from impulsar.bridges.torch import roll

    rollout = batch()
    values = torch.tensor(rollout.values(), requires_grad=True)
    y = roll(rollout, values)
    (y**2).sum().backward()
    expected = rollout.pull(rollout.values(), 2 * y.detach().numpy())
    assert values.grad.numpy() == pytest.approx(expected, rel=1e-12)

    def total(values):
        return (roll(rollout, values) ** 2).sum()

    assert torch.func.grad(total)(values.detach()).numpy() == pytest.approx(expected, rel=1e-12)
    both = torch.func.vmap(torch.func.grad(total))(torch.stack([values.detach(), 1.1 * values.detach()]))
    assert both[0].numpy() == pytest.approx(expected, rel=1e-12) and not torch.allclose(both[0], both[1])
    (slope,) = torch.autograd.grad(total(values), values, create_graph=True)
    with pytest.raises(ModelError, match="first derivatives only"):  # not 0 in silence
        torch.autograd.grad((slope * values).sum(), values)
    with pytest.raises(ModelError, match="expected a tensor of floating-point numbers"):
        roll(rollout, values.detach().numpy())


@pytest.mark.study
def test_gradients_flow_in_jax() -> None:
    """The same, jitted; jax is not among the tools of this project."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install jax")

    from impulsar.bridges.jax import function_of

    jax.config.update("jax_enable_x64", True)
    rollout = batch()
    f = function_of(rollout)
    start = rollout.values()
    found = jax.jit(jax.grad(lambda values: (f(values) ** 2).sum()))(start)
    expected = rollout.pull(start, 2 * rollout(start))
    assert np.asarray(found) == pytest.approx(expected, rel=1e-12)
    mapped = jax.grad(lambda values: (jax.vmap(f)(values[None]) ** 2).sum())(start)
    assert np.asarray(mapped) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ModelError, match=r"are \(2, 3\) numbers, expected \(3, 3\)"):
        jax.jit(f)(start[:2])
