/** The picture's labels (forces of everybody's hands, names, motors) as small plates in the room. */

import * as THREE from "three";
import type { Labels } from "../labels";

const MOST = 24;
const HEIGHT = 0.026; // at arm's length [m]
const ARM = 0.7; // [m]: farther away they are larger, so that they are read as well
const PIXELS = 56;
const OFTEN = 150; // [ms] between changes of a text

interface Tag {
  sprite: THREE.Sprite;
  canvas: HTMLCanvasElement;
  text: string;
  changed: number; // [ms]
}

export class Tags {
  readonly group = new THREE.Group();
  private tags = new Map<string, Tag>();

  constructor(private readonly labels: Labels) {}

  /** Put them beside what they are of, for a head in the room and a world as large as it is shown. */
  update(X_RW: THREE.Matrix4, head: THREE.Vector3, scale: number, now: number): void {
    const shown = this.labels
      .all()
      .filter(({ text }) => text !== "")
      .slice(0, MOST);
    const keys = new Set(shown.map(({ key }) => key));
    for (const key of [...this.tags.keys()]) if (!keys.has(key)) this.drop(key);
    for (const { key, text, at } of shown) {
      const tag = this.tag(key);
      if (tag.text !== text && now - tag.changed > OFTEN) write(tag, text, now);
      tag.sprite.position.copy(at).applyMatrix4(X_RW);
      // a sprite's size is taken in the eye's lengths, though its place is scaled with the world
      const high = HEIGHT * Math.max(1, tag.sprite.position.distanceTo(head) / ARM) * scale;
      tag.sprite.scale.set((high * tag.canvas.width) / tag.canvas.height, high, 1);
    }
  }

  clear(): void {
    for (const key of [...this.tags.keys()]) this.drop(key);
  }

  private tag(key: string): Tag {
    let found = this.tags.get(key);
    if (!found) {
      const canvas = document.createElement("canvas");
      const map = new THREE.CanvasTexture(canvas);
      map.colorSpace = THREE.SRGBColorSpace;
      const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false, transparent: true }));
      sprite.center.set(-0.08, -0.3);
      sprite.renderOrder = 6;
      sprite.raycast = () => {};
      found = { sprite, canvas, text: "", changed: Number.NEGATIVE_INFINITY };
      this.tags.set(key, found);
      this.group.add(sprite);
    }
    return found;
  }

  private drop(key: string): void {
    const tag = this.tags.get(key);
    if (!tag) return;
    this.group.remove(tag.sprite);
    tag.sprite.material.map?.dispose();
    tag.sprite.material.dispose();
    this.tags.delete(key);
  }
}

function write(tag: Tag, text: string, now: number): void {
  const pen = tag.canvas.getContext("2d");
  if (!pen) return;
  tag.text = text;
  tag.changed = now;
  const font = `600 ${0.62 * PIXELS}px system-ui, sans-serif`;
  pen.font = font;
  const width = Math.ceil(pen.measureText(text).width) + 28;
  if (tag.canvas.width !== width || tag.canvas.height !== PIXELS) {
    tag.canvas.width = width;
    tag.canvas.height = PIXELS;
    tag.sprite.material.map?.dispose(); // a texture of another size is another texture
  }
  pen.font = font;
  pen.fillStyle = "#161c26d9";
  pen.beginPath();
  pen.roundRect(0, 0, width, PIXELS, 14);
  pen.clearRect(0, 0, width, PIXELS);
  pen.fill();
  pen.fillStyle = "#f2f5fa";
  pen.textBaseline = "middle";
  pen.fillText(text, 14, PIXELS / 2 + 2);
  if (tag.sprite.material.map) tag.sprite.material.map.needsUpdate = true;
}
