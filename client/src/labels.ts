/** Small texts over the picture, each at a point of the world. */

import type * as THREE from "three";
import { byId, h, setText } from "./dom";
import { type Place, readable } from "./overlap";
import type { View } from "./view";

const MODEST = /^(need|motion|name) /; // keys of those that give way where there is no room for all

interface Label {
  element: HTMLElement;
  at: THREE.Vector3;
}

export class Labels {
  private labels = new Map<string, Label>();
  private box = byId("labels");

  constructor(
    private readonly view: View,
    private readonly picked: () => string | null, // name of the part
  ) {
    view.onDraw(() => this.place());
  }

  set(key: string, text: string, at: THREE.Vector3, kind: string): void {
    let label = this.labels.get(key);
    if (!label) {
      label = { element: h("span"), at: at.clone() };
      this.labels.set(key, label);
      this.box.append(label.element);
    }
    label.at.copy(at);
    label.element.className = kind;
    setText(label.element, text);
    this.put(label); // it may be a while until the next picture
    this.view.touch();
  }

  remove(key: string): void {
    this.labels.get(key)?.element.remove();
    this.labels.delete(key);
  }

  /** Remove the labels whose key starts with `prefix` and is not in `keep`. */
  keepOnly(prefix: string, keep: Set<string>): void {
    for (const key of [...this.labels.keys()]) if (key.startsWith(prefix) && !keep.has(key)) this.remove(key);
  }

  text(key: string): string | null {
    return this.labels.get(key)?.element.textContent ?? null;
  }

  /** All that there are. */
  all(): { key: string; text: string; at: THREE.Vector3; kind: string }[] {
    return [...this.labels].map(([key, { element, at }]) => ({
      key,
      text: element.textContent ?? "",
      at,
      kind: element.className,
    }));
  }

  private place(): void {
    const places = new Map<Place, HTMLElement>();
    for (const [key, label] of this.labels) {
      const { x, y, ahead } = this.put(label);
      if (ahead) places.set({ x, y, text: label.element.textContent ?? "", rank: this.rank(key) }, label.element);
    }
    const shown = readable([...places.keys()]);
    for (const [place, element] of places) element.hidden = !shown.has(place);
  }

  /** What is picked comes before the others. */
  private rank(key: string): number {
    if (!MODEST.test(key)) return 0;
    const name = this.picked();
    return name !== null && ` ${key} `.includes(` ${name} `) ? 1 : 2;
  }

  private put({ element, at }: Label): { x: number; y: number; ahead: boolean } {
    const pixel = this.view.project(at);
    if (!pixel.ahead) element.hidden = true;
    element.style.transform = `translate(${Math.round(pixel.x + 10)}px, ${Math.round(pixel.y - 22)}px)`;
    return pixel;
  }
}
