/**
 * A recorded motion in a file of its own, without a server: the studio's picture, play, scrub, orbit. Poses between
 * samples are those of the studio, cubics through poses and velocities.
 */

import "./app.css";
import "./player.css";
import * as THREE from "three";
import { byId, download, h, setText } from "./dom";
import { keep } from "./geometries";
import { between, POSE } from "./interpolate";
import { Mechanism } from "./mechanism";
import type { Scene } from "./messages";
import { type Motion, type Packed, unpack } from "./motion";
import { Store } from "./store";
import { colour, onTheme, toggleTheme } from "./theme";
import { shoot } from "./video";
import { View } from "./view";

/** What the file holds: the scene as the studio sends it, and its motion. */
interface Recorded extends Packed {
  scene: Scene;
  meshes: Record<string, string>; // large ones by digest, in base64
}

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2];

class Player {
  private readonly store = new Store();
  private readonly view = new View(this.store);
  private readonly mechanism = new Mechanism(this.store, this.view);
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
    private readonly scene: Scene,
    private readonly motion: Motion,
  ) {
    this.time = this.motion.first;
    this.seek.max = String(this.motion.last - this.motion.first);
    this.build();
    this.store.setScene(scene);
    this.show(this.motion.first);
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

  /** For tests: where it is, and where bodies are drawn. */
  state(): { time: number; running: boolean; poses: Record<string, number[]> } {
    const poses: Record<string, number[]> = {};
    this.scene.bodies.forEach(({ name }, k) => {
      poses[name] = [...this.motion.poses.subarray(POSE * k, POSE * (k + 1))];
    });
    return { time: this.time, running: this.running, poses };
  }

  /** Show a time; at the end it begins again. */
  go(time: number): void {
    this.show(time > this.motion.last ? this.motion.first : Math.max(this.motion.first, time));
  }

  /** The whole motion at the speed chosen, 60 pictures a second. */
  async video(size: readonly [number, number]): Promise<Blob> {
    const button = byId<HTMLButtonElement>("video");
    this.run(false);
    button.disabled = true;
    try {
      return await shoot(this.view, {
        span: [this.motion.first, this.motion.last],
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
    download(`${this.scene.name}.webm`, blob);
  }

  private run(on: boolean): void {
    this.running = on;
    setText(this.play, on ? "❚❚" : "▶");
    this.play.setAttribute("aria-label", on ? "Pause" : "Play");
    this.view.touch();
  }

  private build(): void {
    const { scene } = this;
    document.title = scene.name;
    setText(byId("title"), scene.name);
    byId("bar").append(this.play, this.seek, this.clock, this.speed);
    byId("theme").addEventListener("click", toggleTheme);
    byId("video").addEventListener("click", () => void this.video([1920, 1080]).then((blob) => this.save(blob)));
    byId("fit").addEventListener("click", () => this.view.fit(this.mechanism.extent().points));
    this.play.addEventListener("click", () => this.run(!this.running));
    this.seek.addEventListener("input", () => {
      this.run(false);
      this.show(this.motion.first + Number(this.seek.value));
    });
    addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === " " && event.target === document.body) this.run(!this.running);
      else if (steps && event.target !== this.seek) {
        this.run(false);
        this.show(Math.min(this.motion.last, Math.max(this.motion.first, this.time + steps / 30)));
      } else return;
      event.preventDefault();
    });
    this.run(true);
  }

  private show(time: number): void {
    this.motion.bring(time);
    this.time = time;
    setText(this.clock, `${time.toFixed(2)} s`);
    this.seek.value = String(time - this.motion.first);
    this.store.setFrame(this.motion.frame(time, this.scene.generation));
  }

  /** Paths of the probes over the whole recording. */
  private trace(): void {
    const index = new Map(this.scene.bodies.map(({ name }, k) => [name, k]));
    const material = new THREE.LineBasicMaterial();
    onTheme(() => material.color.set(colour("trace")));
    const out = new Float32Array(this.motion.poses.length);
    for (const probe of this.scene.probes) {
      const k = index.get(probe.body);
      if (k === undefined) continue;
      const points: THREE.Vector3[] = [];
      for (const [a, b] of this.motion.stretches()) {
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
      }
      const line = new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), material);
      line.frustumCulled = false;
      this.view.scene.add(line);
    }
  }
}

const recorded = JSON.parse(byId("motion").textContent ?? "") as Recorded;
for (const [digest, text] of Object.entries(recorded.meshes))
  keep(digest, Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
void unpack(recorded, recorded.scene.bodies.length).then((motion) => {
  Object.assign(window, { player: new Player(recorded.scene, motion) });
});
