import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { between, type Moment } from "../src/interpolate";
import { type Arrival, Playout } from "../src/playout";

const SIZE = 1; // of the mechanism below [m]: a crank of half of it, and a body that tumbles at its end
const DT = 0.01; // [s], the usual step
const PICTURE = 1 / 60; // [s]

/** Angle of the crank and its rate: faster and slower about 6 rad/s. */
const angle = (t: number): number => 6 * t + Math.sin(3 * t);
const speed = (t: number): number => 6 + 3 * Math.cos(3 * t);

/** The truth: a crank about z, and on its pin a body that turns about its own x while it precesses about z. */
function truth(time: number): Moment {
  const [a, w] = [angle(time), speed(time)];
  const [c, s] = [Math.cos(a), Math.sin(a)];
  const about = (x: number, y: number, z: number, by: number) =>
    new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(x, y, z), by);
  const crank = about(0, 0, 1, a);
  const spin = 20;
  const tumbling = about(0, 0, 1, a).multiply(about(1, 0, 0, spin * time));
  const turn = new THREE.Vector3(spin * c, spin * s, w); // about the carried x, and about z
  const pin = [SIZE * c, SIZE * s, 0];
  return {
    time,
    poses: new Float32Array([0.5 * SIZE * c, 0.5 * SIZE * s, 0, ...crank.toArray(), ...pin, ...tumbling.toArray()]),
    twists: new Float32Array([
      ...[0, 0, w, -0.5 * SIZE * w * s, 0.5 * SIZE * w * c, 0],
      ...[...turn.toArray(), -SIZE * w * s, SIZE * w * c, 0],
    ]),
  };
}

/** How far a point of a body, half the mechanism from its centre, is from where it should be, at most. */
function off(poses: Float32Array, true_: Float32Array): number {
  let worst = 0;
  for (let k = 0; k < poses.length; k += 7) {
    for (const tip of [new THREE.Vector3(0.5 * SIZE, 0, 0), new THREE.Vector3(0, 0.5 * SIZE, 0)]) {
      const place = (values: Float32Array) =>
        tip
          .clone()
          .applyQuaternion(new THREE.Quaternion().fromArray(values, k + 3).normalize())
          .add(new THREE.Vector3().fromArray(values, k));
      worst = Math.max(worst, place(poses).distanceTo(place(true_)));
    }
  }
  return worst;
}

const frame = (time: number, wall: number, rate: number, more: Partial<Arrival> = {}): Arrival => ({
  ...truth(time),
  wall,
  leaps: 0,
  paused: false,
  speed: rate,
  budget: DT / rate,
  ...more,
});

/** Frames as the session sends them, and a picture every 1/60 s by a clock of the test's: times and poses shown. */
function play(rate: number, seconds: number, jitter: number, lateness = 0): { time: number; poses: Float32Array }[] {
  const playout = new Playout();
  const gap = Math.max(DT / rate, Math.min(Math.max((4 * DT) / rate, 1 / 60), 1 / 25));
  const arrivals: { at: number; frame: Arrival }[] = [];
  for (let k = 0; k * gap < seconds; k++) {
    const wall = k * gap + jitter * Math.abs(Math.sin(17 * k)); // a turn is late, never early
    const steps = Math.floor((wall * rate) / DT + 1e-9);
    arrivals.push({ at: wall + lateness * Math.abs(Math.sin(5 * k)), frame: frame(steps * DT, wall, rate) });
  }
  const shown: { time: number; poses: Float32Array }[] = [];
  for (let now = 0; now < seconds; now += PICTURE) {
    while (arrivals[0] && arrivals[0].at <= now) playout.take((arrivals.shift() as { frame: Arrival }).frame);
    playout.advance(now);
    if (playout.poses.length) shown.push({ time: playout.time, poses: playout.poses.slice() });
  }
  return shown;
}

test("at x1 and x0.05 every picture has a pose of its own, within 1e-3 of the size of the true one", () => {
  for (const rate of [1, 0.05]) {
    const shown = play(rate, 12, 0.004, 0.003).filter(({ time }) => time > 0);
    assert(shown.length > 0.9 * 12 * 60);
    let worst = 0;
    for (const { time, poses } of shown) worst = Math.max(worst, off(poses, truth(time).poses));
    assert(worst < 1e-3 * SIZE, `off by ${worst}`);
    const steps = shown.slice(1).map(({ time }, k) => time - (shown[k]?.time ?? 0));
    assert(
      steps.every((step) => step > 0),
      "a picture like the one before",
    );
    const settled = steps.slice(steps.length / 4);
    const fastest = Math.max(...settled) / (rate * PICTURE);
    const slowest = Math.min(...settled) / (rate * PICTURE);
    assert(fastest < 1.35 && slowest > 0.65, `time runs between ${slowest} and ${fastest} times as it should`);
  }
});

test("the picture is at most two frames late", () => {
  for (const rate of [1, 0.05]) {
    const gap = rate === 1 ? 0.04 : 0.2;
    play(rate, 6, 0).forEach(({ time }, k) => {
      if (k * PICTURE > 2) assert(rate * k * PICTURE - time < 2.3 * rate * gap, `${rate * k * PICTURE - time}`);
    });
  }
});

test("cubics have the error of fourth order that they are said to have", () => {
  const out = new Float32Array(14);
  const errors = [0.04, 0.02].map((h) => {
    let worst = 0;
    for (let t = 0; t < 2; t += h) {
      between(truth(t), truth(t + h), 0.5, out);
      worst = Math.max(worst, off(out, truth(t + h / 2).poses));
    }
    return worst;
  });
  assert((errors[0] ?? 0) < 1e-3 && (errors[1] ?? 1) < (errors[0] ?? 0) / 10, `${errors}`);
});

test("the ends are the frames themselves, and whole turns between them are made", () => {
  const still = (q: THREE.Quaternion, w: number, time: number): Moment => ({
    time,
    poses: new Float32Array([0, 0, 0, ...q.toArray()]),
    twists: new Float32Array([0, 0, w, 0, 0, 0]),
  });
  const about = (by: number) => new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, 0, 1), by);
  const w = 100; // 10 rad in a frame of 0.1 s
  const [a, b] = [still(about(0), w, 0), still(about(10), w, 0.1)];
  const out = new Float32Array(7);
  for (const s of [0, 0.25, 0.5, 0.75, 1]) {
    between(a, b, s, out);
    const found = new THREE.Quaternion().fromArray(out, 3);
    assert(found.angleTo(about(10 * s)) < 1e-3, `${s}: ${found.angleTo(about(10 * s))}`);
  }
});

test("what a person did is shown at once: leaps, time that stands still, time that goes back", () => {
  for (const [name, next] of [
    ["a leap", frame(0.3, 0.12, 1, { leaps: 1 })],
    ["a pause", frame(0.12, 0.12, 1, { paused: true })],
    ["back", frame(0.01, 0.12, 1)],
  ] as const) {
    const playout = new Playout();
    playout.take(frame(0, 0, 1));
    playout.advance(0.04);
    playout.take(frame(0.04, 0.04, 1));
    playout.advance(0.05);
    assert(playout.time > 0 && playout.time < 0.04);
    playout.take(next);
    assert.equal(playout.time, next.time, name);
    assert.deepEqual([...playout.poses], [...next.poses], name);
    assert(!playout.advance(0.2), `${name}: nothing more to show`);
  }
});

test("a page that slept goes on where the session is, not through all that it missed", () => {
  const playout = new Playout();
  playout.advance(0);
  for (let k = 0; k < 500; k++) playout.take(frame(0.04 * k, 0.04 * k, 1));
  playout.advance(20);
  assert(playout.time > 0.04 * 497 && playout.time <= 0.04 * 499);
  assert(off(playout.poses, truth(playout.time).poses) < 1e-3);
});
