/** Paths of the model's probes and of points the user chose. */

import * as THREE from "three";
import type { Vec3 } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const LONGEST = 3000; // points

interface Trace {
  body: string;
  at: Vec3;
  count: number;
  points: Float32Array;
  line: THREE.Line;
  head: THREE.Mesh;
}

export class Traces {
  private traces = new Map<string, Trace>();
  private material = new THREE.LineBasicMaterial();
  private headMaterial = new THREE.MeshBasicMaterial();
  private time = NaN;
  shown = true;

  constructor(private readonly stage: Stage) {
    const { store } = stage;
    store.on("topology", (scene) => {
      for (const [key, trace] of this.traces) {
        const isProbe = key.startsWith("probe ");
        if (isProbe || !scene.bodies.some((body) => body.name === trace.body)) this.remove(key);
      }
      for (const probe of scene.probes) this.add(`probe ${probe.name}`, probe.body, probe.at as Vec3);
    });
    store.on("jump", () => this.clear());
    store.on("frame", (frame) => {
      if (frame.time !== this.time && this.stage.store.fits) this.extend();
      this.time = frame.time;
    });
    onTheme(() => {
      this.material.color.set(colour("trace"));
      this.headMaterial.color.set(colour("trace"));
    });
  }

  add(key: string, body: string, at: Vec3): void {
    this.remove(key);
    const points = new Float32Array(3 * LONGEST);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
    geometry.setDrawRange(0, 0);
    const line = new THREE.Line(geometry, this.material);
    line.frustumCulled = false;
    const head = new THREE.Mesh(new THREE.SphereGeometry(0.55 * this.stage.mechanism.pin, 12, 8), this.headMaterial);
    line.visible = head.visible = this.shown;
    this.stage.view.scene.add(line, head);
    this.traces.set(key, { body, at, count: 0, points, line, head });
  }

  remove(key: string): void {
    const trace = this.traces.get(key);
    if (!trace) return;
    this.stage.view.drop(trace.line, trace.head);
    this.traces.delete(key);
    this.stage.view.touch();
  }

  /** Points the user chose, by key. */
  chosen(): { key: string; body: string; at: Vec3 }[] {
    return [...this.traces]
      .filter(([key]) => !key.startsWith("probe "))
      .map(([key, { body, at }]) => ({ key, body, at }));
  }

  /** How many points of a path are drawn. */
  length(key: string): number {
    return this.traces.get(key)?.count ?? 0;
  }

  clear(): void {
    for (const trace of this.traces.values()) {
      trace.count = 0;
      trace.line.geometry.setDrawRange(0, 0);
    }
  }

  show(on: boolean): void {
    this.shown = on;
    for (const { line, head } of this.traces.values()) line.visible = head.visible = on;
    this.stage.view.touch();
  }

  private extend(): void {
    for (const trace of this.traces.values()) {
      const p = this.stage.mechanism.point(trace.body, trace.at);
      if (!p) continue;
      if (trace.count === LONGEST) {
        trace.points.copyWithin(0, 3 * (LONGEST / 4));
        trace.count -= LONGEST / 4;
      }
      trace.points.set([p.x, p.y, p.z], 3 * trace.count);
      trace.count += 1;
      trace.line.geometry.setDrawRange(0, trace.count);
      trace.line.geometry.getAttribute("position").needsUpdate = true;
      trace.head.position.copy(p);
    }
  }
}
