/** Small texts over the picture, each at a point of the world. */

import type * as THREE from "three";
import { byId, h, setText } from "./dom";
import type { View } from "./view";

interface Label {
  element: HTMLElement;
  at: THREE.Vector3;
}

export class Labels {
  private labels = new Map<string, Label>();
  private box = byId("labels");

  constructor(private readonly view: View) {
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
    for (const label of this.labels.values()) this.put(label);
  }

  private put({ element, at }: Label): void {
    const { x, y, ahead } = this.view.project(at);
    element.hidden = !ahead;
    element.style.transform = `translate(${Math.round(x + 10)}px, ${Math.round(y - 22)}px)`;
  }
}
