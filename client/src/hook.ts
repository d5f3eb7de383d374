/** `window.impulsar`: what the page knows, to be read by tests and by the curious. Nothing here changes anything. */

import type { Books } from "./books";
import type { Loads } from "./loads";
import { BOOKS } from "./messages";
import type { Motions } from "./motions";
import type { Plots } from "./plots";
import type { Stage } from "./stage";
import type { Summary } from "./summary";
import type { Traces } from "./traces";

interface Pieces {
  stage: Stage;
  loads: Loads;
  motions: Motions;
  plots: Plots;
  books: Books;
  summary: Summary;
  traces: Traces;
}

export function exposeState(pieces: Pieces): void {
  const { loads, motions, plots, books, summary, traces } = pieces;
  const { store, view, mechanism, labels, signals, connection } = pieces.stage;
  const pixels = (p: { x: number; y: number } | null) => {
    const box = view.canvas.getBoundingClientRect();
    return p && { x: p.x + box.left, y: p.y + box.top };
  };
  const frame = () => {
    const { frame: now, scene, live } = store;
    if (!now || !scene) return null;
    return {
      time: now.time,
      step: now.step,
      wall: now.wall,
      flags: now.flags,
      generation: now.generation,
      revision: now.revision,
      applied: now.applied,
      contacts: now.contacts.length / 7,
      poses: Object.fromEntries(scene.bodies.map((body, k) => [body.name, [...now.poses.subarray(7 * k, 7 * k + 7)]])),
      hands: (live?.hands ?? []).map((hand, k) => ({ ...hand, values: [...now.hands.subarray(9 * k, 9 * k + 9)] })),
      loads: (live?.loads ?? []).map((load, k) => ({ ...load, values: [...now.loads.subarray(6 * k, 6 * k + 6)] })),
      books: Object.fromEntries(BOOKS.map((name, k) => [name, now.books[k]])),
    };
  };
  let record: ReturnType<typeof frame>[] | null = null;
  store.on("frame", () => record?.push(frame()));
  Object.defineProperty(window, "impulsar", {
    value: Object.freeze({
      frame,
      /** Keep every frame from now on, until `recorded` is called. */
      record: () => {
        record = [];
      },
      recorded: () => {
        const found = record ?? [];
        record = null;
        return found;
      },
      scene: () => structuredClone(store.scene),
      live: () => structuredClone(store.live),
      status: () => structuredClone(store.status),
      books: () => structuredClone(store.books),
      pick: () => structuredClone(store.pick),
      tool: () => store.tool,
      connected: () => store.connected,
      /** Has the session answered everything, and does the page show what came of it? */
      settled: () =>
        connection.unanswered === 0 &&
        store.fits &&
        store.frame?.revision === store.live?.revision &&
        (store.frame?.applied ?? 0) >= connection.lastChange,
      frames: () => store.frames,
      drawn: () => view.drawn,
      percent: () => books.percent(),
      summary: () => summary.text(),
      plots: () => plots.state(),
      csv: () => plots.csv(),
      signal: (name: string) => signals.value(name),
      label: (key: string) => labels.text(key),
      traceLength: (key: string) => traces.length(key),
      /** Page pixel of a point of a body. */
      pixel: (body: string, at: number[] = [0, 0, 0]) => {
        const p = mechanism.point(body, at);
        return p && pixels(view.project(p));
      },
      jointPixel: (name: string) => {
        const joint = store.joint(name);
        const F = joint && mechanism.frameF(joint);
        return F ? pixels(view.project(F.p)) : null;
      },
      handles: (load: string) =>
        Object.fromEntries(Object.entries(loads.handlePixels(load)).map(([name, p]) => [name, pixels(p)])),
      motionPixel: (joint: string) => pixels(motions.pixel(joint)),
      /** Ask the session for the digest of its state's bits. */
      hash: async () => (await connection.control("hash")).text,
      /** Drop the line, as a network would. */
      drop: () => connection.drop(),
    }),
  });
}
