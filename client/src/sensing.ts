/** What sensors see: points of lidars in the picture, pictures of cameras and words of receivers in a corner. */

import * as THREE from "three";
import { byId, h, setText } from "./dom";
import type { Picture, Sensed, Sensors } from "./messages";
import { show } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const PALE = 0.25; // opacity of a lidar's rays

interface Corner {
  box: HTMLElement;
  text: HTMLElement;
  colours: HTMLCanvasElement;
  depths: HTMLCanvasElement;
}

function bytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Fill a canvas pixel by pixel: red, green and blue of each. */
function paint(
  canvas: HTMLCanvasElement,
  { width, height }: Picture,
  pixel: (k: number) => [number, number, number],
): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const image = new ImageData(width, height);
  for (let k = 0; k < width * height; k++) image.data.set([...pixel(k), 255], 4 * k);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

export class Sensing {
  private readonly box = h("div", { id: "sensing", role: "group", "aria-label": "What sensors see" });
  private readonly corners = new Map<string, Corner>();
  private readonly dots = new THREE.PointsMaterial({ size: 5, sizeAttenuation: false, depthTest: false });
  private readonly rays = new THREE.LineBasicMaterial({ transparent: true, opacity: PALE });
  private points = new THREE.Points(new THREE.BufferGeometry(), this.dots);
  private lines = new THREE.LineSegments(new THREE.BufferGeometry(), this.rays);
  private isOn = true;

  constructor(private readonly stage: Stage) {
    byId("stage").append(this.box);
    for (const drawn of [this.points, this.lines]) {
      drawn.frustumCulled = false;
      stage.view.scene.add(drawn);
    }
    stage.store.on("sensors", (sensors) => this.take(sensors));
    stage.store.on("shown", () => this.place());
    onTheme(() => {
      this.dots.color.set(colour("accent"));
      this.rays.color.set(colour("accent"));
    });
  }

  get shown(): boolean {
    return this.isOn;
  }

  show(on: boolean): void {
    this.isOn = on;
    this.box.hidden = !on;
    this.place();
  }

  /** How many points of lidars are drawn. */
  get count(): number {
    return this.points.geometry.getAttribute("position")?.count ?? 0;
  }

  private take({ sensors }: Sensors): void {
    const shown = sensors.filter(({ said, picture }) => said || picture);
    const names = new Set(shown.map(({ name }) => name));
    for (const [name, { box }] of this.corners)
      if (!names.has(name)) {
        box.remove();
        this.corners.delete(name);
      }
    for (const sensed of shown) this.tell(sensed);
    this.place();
  }

  private tell(sensed: Sensed): void {
    const { name, said, picture } = sensed;
    const corner = this.corners.get(name) ?? this.add(name);
    const depth = picture && picture.near !== null && picture.far !== null;
    setText(
      corner.text,
      depth ? `${name}: ${show(picture.near ?? 0, 3)} to ${show(picture.far ?? 0, 3)} m` : `${name}: ${said}`,
    );
    corner.colours.hidden = corner.depths.hidden = !picture;
    if (!picture) return;
    const [colours, depths] = [bytes(picture.colour), bytes(picture.depth)];
    paint(corner.colours, picture, (k) => [colours[3 * k] ?? 0, colours[3 * k + 1] ?? 0, colours[3 * k + 2] ?? 0]);
    paint(corner.depths, picture, (k) => [depths[k] ?? 0, depths[k] ?? 0, depths[k] ?? 0]);
  }

  private add(name: string): Corner {
    const canvas = (what: string): HTMLCanvasElement =>
      h("canvas", { role: "img", "aria-label": `${what} of ${name}` });
    const corner = { box: h("div"), text: h("div"), colours: canvas("picture"), depths: canvas("depth") };
    corner.box.append(corner.text, corner.colours, corner.depths);
    this.box.append(corner.box);
    this.corners.set(name, corner);
    return corner;
  }

  /** Points and rays of the newest samples, where the sensors are now. */
  private place(): void {
    const { store, mechanism, view } = this.stage;
    const ends: number[] = [];
    const rays: number[] = [];
    for (const { body, eye, points } of this.isOn ? (store.sensors?.sensors ?? []) : []) {
      const start = eye && mechanism.point(body ?? "ground", eye as [number, number, number]);
      for (const point of start ? points : []) {
        const end = mechanism.point(body ?? "ground", point as [number, number, number]);
        if (!start || !end) continue;
        ends.push(end.x, end.y, end.z);
        rays.push(start.x, start.y, start.z, end.x, end.y, end.z);
      }
    }
    if (ends.length === 0 && this.count === 0) return;
    for (const [drawn, values] of [
      [this.points, ends],
      [this.lines, rays],
    ] as const) {
      drawn.geometry.dispose();
      drawn.geometry = new THREE.BufferGeometry();
      drawn.geometry.setAttribute("position", new THREE.Float32BufferAttribute(values, 3));
    }
    view.touch();
  }
}
