/** `window.impulsar`: what the page knows, to be read by tests and by the curious. Nothing here changes anything. */

import * as THREE from "three";
import type { About } from "./about";
import type { Analyse } from "./analyse/panel";
import type { Overlay } from "./ar/overlay";
import type { Arrows, Kind } from "./arrows";
import type { Belts } from "./belts";
import type { Books } from "./books";
import type { Effects } from "./effects";
import type { Ghosts } from "./ghosts";
import { HAND } from "./grab";
import type { Guide } from "./guide";
import type { Loads } from "./loads";
import { BOOKS } from "./messages";
import type { Motions } from "./motions";
import type { Pads } from "./pads/entry";
import type { Plots } from "./plots/plots";
import type { Sensing } from "./sensing";
import type { Sounds } from "./sounds";
import type { Stage } from "./stage";
import type { Summary } from "./summary";
import type { Traces } from "./traces";
import type { Turns } from "./turns";
import type { HeadsetEntry } from "./xr/entry";

interface Pieces {
  stage: Stage;
  loads: Loads;
  motions: Motions;
  effects: Effects;
  plots: Plots;
  books: Books;
  summary: Summary;
  traces: Traces;
  arrows: Arrows;
  ghosts: Ghosts;
  analyse: Analyse;
  about: About;
  guide: Guide;
  sensing: Sensing;
  turns: Turns;
  belts: Belts;
  headset: HeadsetEntry;
  sounds: Sounds;
  pads: Pads;
  overlay: Overlay;
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
      hands: (live?.hands ?? []).map((hand, k) => {
        const own = now.hands.subarray(HAND * k, HAND * (k + 1));
        return {
          ...hand,
          values: [...own.subarray(0, 9)],
          torque: [...own.subarray(9, 12)],
          aim: [...own.subarray(12)],
        };
      }),
      loads: (live?.loads ?? []).map((load, k) => ({ ...load, values: [...now.loads.subarray(6 * k, 6 * k + 6)] })),
      books: Object.fromEntries(BOOKS.map((name, k) => [name, now.books[k]])),
    };
  };
  let record: ReturnType<typeof frame>[] | null = null;
  store.on("frame", () => record?.push(frame()));
  let film: { time: number; poses: number[] }[] | null = null;
  store.on("shown", () => film?.push({ time: store.playout.time, poses: [...store.playout.poses] }));
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
      /** Keep what every picture shows from now on, until `filmed` is called. */
      film: () => {
        film = [];
      },
      filmed: () => {
        const found = film ?? [];
        film = null;
        return found;
      },
      keepView: () => mechanism.keepView(),
      scene: () => structuredClone(store.scene),
      live: () => structuredClone(store.live),
      status: () => structuredClone(store.status),
      books: () => structuredClone(store.books),
      sweep: () => structuredClone(store.sweep),
      events: () => structuredClone(store.events),
      marks: () => structuredClone(store.marks),
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
      /** Is there nothing to draw that has not been drawn? */
      isDrawn: () => view.isDrawn,
      /** Time that the page's own script took for the last picture [ms]. */
      scripted: () => view.scripted,
      percent: () => books.percent(),
      summary: () => summary.text(),
      plots: () => plots.state(),
      csv: () => plots.csv(),
      signal: (name: string) => signals.value(name),
      label: (key: string) => labels.text(key),
      traceLength: (key: string) => traces.length(key),
      /** Arrows of a kind that are drawn: where, and how much. */
      arrows: (kind: Kind) => pieces.arrows.of(kind),
      belts: () => pieces.belts.state(),
      /** Names of what is picked, the parts of groups in their place. */
      picked: () => store.pickedParts.map(({ name }) => name),
      hidden: () => mechanism.hiddenCount,
      ghosts: () => pieces.ghosts.count,
      /** What the panel of analyses shows. */
      analysis: () => pieces.analyse.state(),
      view: () => ({
        orthographic: view.isOrthographic,
        planar: view.basis.isPlanar,
        pin: mechanism.pin,
        sight: view.camera.getWorldDirection(new THREE.Vector3()).toArray(),
      }),
      tracePath: (key: string) => traces.path(key),
      about: () => pieces.about.state(),
      guide: () => pieces.guide.step,
      sensing: () => ({ drawn: pieces.sensing.count, sensors: store.sensors?.sensors ?? [] }),
      /** What a headset shows, and where it has its board; null without one. */
      headset: () => pieces.headset.state(),
      /** The gamepad's mapping; null without one. */
      pad: () => pieces.pads.state(),
      /** Sounds that were made so far. */
      sounds: () => structuredClone(pieces.sounds.counts),
      turn: () => structuredClone(pieces.turns.state),
      overlay: () => ({
        on: pieces.overlay.isOn,
        shown: pieces.overlay.shown,
        latency: pieces.overlay.latency,
        told: pieces.overlay.told,
        replay: pieces.overlay.replay?.state ?? null,
      }),
      traceSpeeds: (key: string) => traces.speeds(key),
      traced: () => traces.chosen(),
      hue: (body: string) => mechanism.hue(body),
      /** Page pixel of a point of a body. */
      pixel: (body: string, at: number[] = [0, 0, 0]) => {
        const p = mechanism.point(body, at);
        return p && pixels(view.project(p));
      },
      /** Page pixel of a point of the world. */
      worldPixel: (at: number[]) => pixels(view.project(new THREE.Vector3().fromArray(at))),
      jointPixel: (name: string) => {
        const joint = store.joint(name);
        const F = joint && mechanism.frameF(joint);
        return F ? pixels(view.project(F.p)) : null;
      },
      handles: (load: string) =>
        Object.fromEntries(Object.entries(loads.handlePixels(load)).map(([name, p]) => [name, pixels(p)])),
      motionPixel: (joint: string) => pixels(motions.pixel(joint)),
      effectPixel: (path: string) => pixels(pieces.effects.pixel(path)),
      /** Ask the session for the digest of its state's bits. */
      hash: async () => (await connection.control("hash")).text,
      /** Drop the line, as a network would. */
      drop: () => connection.drop(),
    }),
  });
}
