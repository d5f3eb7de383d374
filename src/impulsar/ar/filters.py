"""A filter of poses that takes noise away and adds no more lag than that is worth.

Place and turn each have a value and a rate with random acceleration (Kalman). What is measured comes with its
covariance, so the one thing unknown is how much the target accelerates. So several filters run, each for one density
of acceleration, and are weighed by how well they predicted the last pictures: at rest the calm one averages over many
pictures, in a quick motion the quickest passes on what was measured.
"""

import numpy as np

from .pose import Guess, turn

PLACE = (1e-8, 1e-5, 1e-2, 1e2)  # spectral densities of acceleration [m²/s³]
TURN = (1e-6, 1e-3, 1.0, 1e4)  # [rad²/s³]
FORGET = 0.8  # of a filter's record at each picture


class Kalman:
    """Covariance of three values and their rates at one density of acceleration; the owner keeps the values."""

    def __init__(self, density: float, R: np.ndarray):
        self.density = density
        self.P = np.zeros((6, 6))
        self.P[:3, :3], self.P[3:, 3:] = R, 100.0 * np.eye(3)  # the rate is unknown
        self.record = 0.0  # log-likelihood of what was measured

    def step(self, dt: float, innovation: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Go on by dt and take a measurement; returns the corrections of value and rate."""
        F, eye = np.eye(6), np.eye(3)
        F[:3, 3:] = dt * eye
        noise = np.block([[dt**3 / 3 * eye, dt**2 / 2 * eye], [dt**2 / 2 * eye, dt * eye]])
        P = F @ self.P @ F.T + self.density * noise
        S = P[:3, :3] + R
        gain = np.linalg.solve(S, P[:3, :]).T
        self.P = P - gain @ S @ gain.T
        self.P = (self.P + self.P.T) / 2
        surprise = float(innovation @ np.linalg.solve(S, innovation)) + float(np.linalg.slogdet(S)[1])
        self.record = FORGET * self.record - surprise / 2
        change = gain @ innovation
        return change[:3], change[3:]


class PoseFilter:
    """Filtered poses of one target."""

    def __init__(self) -> None:
        self._time: float | None = None

    def reset(self) -> None:
        """Forget all."""
        self._time = None

    def update(self, time: float, guess: Guess) -> np.ndarray:
        """The filtered X_KM at the time of a measurement."""
        R_place, R_turn = guess.covariance[:3, :3], guess.covariance[3:, 3:]
        p, R = guess.position, guess.X_KM[:3, :3]
        if self._time is None or time <= self._time:
            self._places = [(Kalman(density, R_place), p, np.zeros(3)) for density in PLACE]
            self._turns = [(Kalman(density, R_turn), R, np.zeros(3)) for density in TURN]
        else:
            dt = time - self._time
            self._places = [_move(each, dt, p, R_place) for each in self._places]
            self._turns = [_turn(each, dt, R, R_turn) for each in self._turns]
        self._time = time
        X = np.eye(4)
        X[:3, 3] = sum(w * each[1] for w, each in zip(_weights(self._places), self._places, strict=True))
        weights = _weights(self._turns)
        best = self._turns[int(np.argmax(weights))][1]
        mean = sum(w * _vector(each[1] @ best.T) for w, each in zip(weights, self._turns, strict=True))
        X[:3, :3] = turn(mean) @ best
        return X


def _move(each, dt: float, measured: np.ndarray, R: np.ndarray):
    kalman, value, rate = each
    ahead = value + dt * rate
    moved, quicker = kalman.step(dt, measured - ahead, R)
    return kalman, ahead + moved, rate + quicker


def _turn(each, dt: float, measured: np.ndarray, R: np.ndarray):
    kalman, value, rate = each
    ahead = turn(dt * rate) @ value
    turned, quicker = kalman.step(dt, _vector(measured @ ahead.T), R)
    return kalman, turn(turned) @ ahead, rate + quicker


def _weights(filters) -> np.ndarray:
    records = np.array([kalman.record for kalman, _, _ in filters])
    weights = np.exp(records - records.max())
    return weights / weights.sum()


def _vector(R: np.ndarray) -> np.ndarray:
    """The turn of a rotation matrix as a vector, up to π."""
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(w)), (float(np.trace(R)) - 1) / 2
    angle = np.arctan2(sine, cosine)
    return w * (angle / sine) if sine > 1e-9 else w
