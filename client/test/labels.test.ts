import assert from "node:assert/strict";
import { test } from "node:test";
import { contactsAt } from "../src/interpolate";
import { type Place, readable } from "../src/overlap";

test("texts that give way are left out where they would cover others, the picked part's last", () => {
  const at = (x: number, y: number, rank: number): Place => ({ x, y, text: "1 rad", rank });
  const [hand, first, picked, aside, below] = [at(0, 0, 0), at(20, 10, 2), at(100, 0, 1), at(130, 5, 2), at(20, 25, 2)];
  const shown = readable([first, aside, below, picked, hand] as Place[]);
  assert.deepEqual(shown, new Set([hand, picked, below]));
  assert.equal(readable([hand, at(1, 1, 0)] as Place[]).size, 2, "what one does is told whatever is there");
});

test("contacts are where the bodies are that touch, between frames too", () => {
  const touching = (time: number, ...places: number[]) => ({
    time,
    contacts: Float32Array.from(places.flatMap((x) => [x, 0, 0, 0, 0, 10 * time, 0])),
  });
  const frames = [touching(1, 0, 5), touching(2, 1, 5), touching(3, 2)];
  assert.deepEqual([...contactsAt(frames, 1.25)].slice(0, 8), [0.25, 0, 0, 0, 0, 10, 0, 5]);
  assert.deepEqual(contactsAt(frames, 2), frames[1]?.contacts);
  assert.equal(contactsAt(frames, 2.6), frames[2]?.contacts, "another count: those of the nearer frame");
  assert.equal(contactsAt(frames, 9), frames[2]?.contacts);
  assert.equal(contactsAt(frames, 0), frames[0]?.contacts);
  assert.equal(contactsAt([], 1).length, 0);
});
