import assert from "node:assert/strict";
import { test } from "node:test";
import { BOOKS, decodeFrame, HEADER_BYTES, MAGIC } from "../src/messages";

/** A frame of one body, one hand, no load, one contact, one reaction and two signals, as the session packs it. */
function packed(): ArrayBuffer {
  const floats = BOOKS.length + 7 + 6 + 16 + 7 + 6 + 2;
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + 4 * floats + 2));
  const integers = [42, 3, 5, 6, 9, 8, 1, 1, 0, 1, 1, 0, 0, 2, BOOKS.length]; // step, flags, ..., and how many of each block
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, 7, true);
  view.setFloat64(8, 1.5, true);
  view.setFloat64(16, 99.25, true);
  for (const [k, value] of integers.entries()) view.setUint32(24 + 4 * k, value, true);
  for (let k = 0; k < floats; k++) view.setFloat32(HEADER_BYTES + 4 * k, k, true);
  view.setUint8(HEADER_BYTES + 4 * floats + 1, 1);
  return view.buffer;
}

test("a frame is read block by block", () => {
  const frame = decodeFrame(packed());
  assert.equal(frame.generation, 7);
  assert.equal(frame.time, 1.5);
  assert.equal(frame.wall, 99.25);
  assert.deepEqual([frame.step, frame.flags, frame.revision, frame.applied, frame.subscription], [42, 3, 5, 6, 9]);
  const start = BOOKS.length;
  assert.deepEqual(
    [...frame.poses],
    [0, 1, 2, 3, 4, 5, 6].map((k) => start + k),
  );
  assert.equal(frame.leaps, 8);
  assert.deepEqual([...frame.twists.subarray(0, 2)], [start + 7, start + 8]);
  assert.equal(frame.hands.length, 16);
  assert.equal(frame.loads.length, 0);
  assert.deepEqual(
    [...frame.contacts],
    [29, 30, 31, 32, 33, 34, 35].map((k) => start + k),
  );
  assert.deepEqual([...frame.reactions.subarray(0, 2)], [start + 36, start + 37]);
  assert.equal(frame.motors.length + frame.accelerations.length, 0);
  assert.deepEqual([...frame.signals], [start + 42, start + 43]);
  assert.deepEqual([...frame.marks], [0, 1]);
});

test("what is no frame, or is cut, is refused", () => {
  assert.throws(() => decodeFrame(new ArrayBuffer(10)), /10 bytes/);
  assert.throws(() => decodeFrame(new ArrayBuffer(HEADER_BYTES)), /not a frame/);
  assert.throws(() => decodeFrame(packed().slice(0, HEADER_BYTES + 40)));
});
