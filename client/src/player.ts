/**
 * A recorded motion in a file of its own, without a server: the studio's picture, play, scrub, orbit. Poses between
 * samples are those of the studio, cubics through poses and velocities.
 */

import "./app.css";
import "./player.css";
import * as THREE from "three";
import { byId, download, h, setText } from "./dom";
import { between, type Moment, POSE, TWIST } from "./interpolate";
import { Mechanism } from "./mechanism";
import { BOOKS, FLAGS, type Frame, type Scene } from "./messages";
import { Store } from "./store";
import { colour, onTheme, toggleTheme } from "./theme";
import { shoot } from "./video";
import { View } from "./view";

/** What the file holds: the scene as the studio sends it, times [s] and 13 numbers a body, packed. */
interface Motion {
  scene: Scene;
  times: number[];
  moments: string; // base64 of deflated float32: poses, then twists, of each sample
}

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2];

async function unpack(text: string): Promise<Float32Array> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Float32Array(await new Response(stream).arrayBuffer());
}

class Player {
  private readonly store = new Store();
  private readonly view = new View(this.store);
  private readonly mechanism = new Mechanism(this.store, this.view);
  private readonly samples: Moment[];
  private readonly poses: Float32Array;
  private readonly play = h("button", { type: "button", class: "primary", id: "play" });
  private readonly seek = h("input", { type: "range", min: 0, step: "any", id: "seek", "aria-label": "Seek in time" });
  private readonly clock = h("output", { id: "clock", "aria-label": "Simulated time" });
  private readonly speed = h(
    "select",
    { id: "speed", "aria-label": "Speed against real time" },
    ...SPEEDS.map((speed) => h("option", { value: speed, selected: speed === 1 }, `×${speed}`)),
  );
  private time: number;
  private running = true;

  constructor(
    private readonly motion: Motion,
    data: Float32Array,
  ) {
    const { scene, times } = motion;
    const count = scene.bodies.length;
    const stride = (POSE + TWIST) * count;
    this.samples = times.map((time, k) => ({
      time,
      poses: data.subarray(stride * k, stride * k + POSE * count),
      twists: data.subarray(stride * k + POSE * count, stride * (k + 1)),
    }));
    this.poses = new Float32Array(POSE * count);
    this.time = this.first;
    this.seek.max = String(this.last - this.first);
    this.build();
    this.store.setScene(scene);
    this.show(this.first);
    this.trace();
    let before = performance.now();
    this.view.onDraw(() => {
      const now = performance.now();
      if (this.running) this.go(this.time + (Number(this.speed.value) * Math.min(now - before, 100)) / 1000);
      before = now;
    });
    const keep = (): void => {
      if (this.running) this.view.touch();
      requestAnimationFrame(keep);
    };
    keep();
  }

  private get first(): number {
    return this.motion.times[0] ?? 0;
  }

  private get last(): number {
    return this.motion.times.at(-1) ?? 0;
  }

  /** For tests: where it is, and where bodies are drawn. */
  state(): { time: number; running: boolean; poses: Record<string, number[]> } {
    const poses: Record<string, number[]> = {};
    this.motion.scene.bodies.forEach(({ name }, k) => {
      poses[name] = [...this.poses.subarray(POSE * k, POSE * (k + 1))];
    });
    return { time: this.time, running: this.running, poses };
  }

  /** Show a time; at the end it begins again. */
  go(time: number): void {
    this.show(time > this.last ? this.first : Math.max(this.first, time));
  }

  /** The whole motion at the speed chosen, 60 pictures a second. */
  async video(size: readonly [number, number]): Promise<Blob> {
    const button = byId<HTMLButtonElement>("video");
    this.run(false);
    button.disabled = true;
    try {
      return await shoot(this.view, {
        span: [this.first, this.last],
        speed: Number(this.speed.value),
        size,
        show: (time) => this.show(time),
        tell: (done, count) => setText(button, `Video: ${Math.round((100 * done) / count)} %`),
      });
    } catch (problem) {
      alert(problem instanceof Error ? problem.message : String(problem));
      throw problem;
    } finally {
      button.disabled = false;
      setText(button, "Video");
    }
  }

  private save(blob: Blob): void {
    download(`${this.motion.scene.name}.webm`, blob);
  }

  private run(on: boolean): void {
    this.running = on;
    setText(this.play, on ? "❚❚" : "▶");
    this.play.setAttribute("aria-label", on ? "Pause" : "Play");
    this.view.touch();
  }

  private build(): void {
    const { scene } = this.motion;
    document.title = scene.name;
    setText(byId("title"), scene.name);
    byId("bar").append(this.play, this.seek, this.clock, this.speed);
    byId("theme").addEventListener("click", toggleTheme);
    byId("video").addEventListener("click", () => void this.video([1920, 1080]).then((blob) => this.save(blob)));
    byId("fit").addEventListener("click", () => this.view.fit(this.mechanism.extent().points));
    this.play.addEventListener("click", () => this.run(!this.running));
    this.seek.addEventListener("input", () => {
      this.run(false);
      this.show(this.first + Number(this.seek.value));
    });
    addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === " " && event.target === document.body) this.run(!this.running);
      else if (steps && event.target !== this.seek) {
        this.run(false);
        this.show(Math.min(this.last, Math.max(this.first, this.time + steps / 30)));
      } else return;
      event.preventDefault();
    });
    this.run(true);
  }

  private show(time: number): void {
    const { samples } = this;
    let k = Math.max(0, samples.findIndex((sample) => sample.time > time) - 1);
    if (time >= this.last) k = Math.max(0, samples.length - 2);
    const [a, b] = [samples[k], samples[k + 1]];
    if (a && b) between(a, b, Math.min(1, Math.max(0, (time - a.time) / (b.time - a.time))), this.poses);
    else if (a) this.poses.set(a.poses);
    this.time = time;
    setText(this.clock, `${time.toFixed(2)} s`);
    this.seek.value = String(time - this.first);
    this.store.setFrame(this.frame());
  }

  /** The poses as a frame of a session that stands still. */
  private frame(): Frame {
    const none = new Float32Array();
    return {
      magic: 0,
      generation: this.motion.scene.generation,
      time: this.time,
      wall: 0,
      step: 0,
      flags: FLAGS.paused,
      revision: 0,
      applied: 0,
      subscription: 0,
      leaps: 0,
      books: new Float32Array(BOOKS.length),
      poses: this.poses.slice(),
      twists: new Float32Array((TWIST * this.poses.length) / POSE),
      hands: none,
      loads: none,
      contacts: none,
      reactions: none,
      motors: none,
      accelerations: none,
      signals: none,
      marks: new Uint8Array(),
    };
  }

  /** Paths of the probes over the whole recording. */
  private trace(): void {
    const index = new Map(this.motion.scene.bodies.map(({ name }, k) => [name, k]));
    const material = new THREE.LineBasicMaterial();
    onTheme(() => material.color.set(colour("trace")));
    const out = new Float32Array(this.poses.length);
    for (const probe of this.motion.scene.probes) {
      const k = index.get(probe.body);
      if (k === undefined) continue;
      const points: THREE.Vector3[] = [];
      this.samples.slice(1).forEach((b, j) => {
        const a = this.samples[j] as Moment;
        for (const s of [0, 0.25, 0.5, 0.75, 1]) {
          between(a, b, s, out);
          const [x, y, z, ...q] = out.subarray(POSE * k, POSE * (k + 1)) as unknown as number[];
          const turn = new THREE.Quaternion().fromArray(q);
          points.push(
            new THREE.Vector3()
              .fromArray(probe.at)
              .applyQuaternion(turn)
              .add(new THREE.Vector3(x, y, z)),
          );
        }
      });
      const line = new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), material);
      line.frustumCulled = false;
      this.view.scene.add(line);
    }
  }
}

const motion = JSON.parse(byId("motion").textContent ?? "") as Motion;
void unpack(motion.moments).then((data) => {
  Object.assign(window, { player: new Player(motion, data) });
});
