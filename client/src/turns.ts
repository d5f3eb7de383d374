/** Where points go in a whole turn of the mechanism, all at once; until something is changed. */

import type { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { request } from "./host";
import type { Point, TurnReply, TurnRequest } from "./messages";
import type { Vec3 } from "./numbers";
import { polyline, ribbonMaterial } from "./ribbons";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const WIDTH = 2; // pixels

export class Turns {
  private readonly material = ribbonMaterial(WIDTH, "#888888");
  private lines: LineSegments2[] = [];
  private asked = 0;
  private found: TurnReply | null = null;

  constructor(private readonly stage: Stage) {
    stage.store.on("scene", () => this.clear());
    this.material.transparent = true;
    this.material.opacity = 0.75;
    onTheme(() => this.material.color.set(colour("ghost")));
  }

  /** What is drawn. */
  get state(): TurnReply | null {
    return this.found;
  }

  clear(): void {
    this.asked += 1;
    this.found = null;
    this.stage.view.drop(...this.lines);
    this.lines = [];
    this.stage.view.touch();
  }

  /** Draw the paths of some points; what is told of them, or null where they are no longer wanted. */
  async show(points: Point[]): Promise<string | null> {
    this.clear();
    if (points.length === 0) return null;
    const { asked } = this;
    const wanted: TurnRequest = { points };
    const answer = await request("api/turn", { method: "POST", body: JSON.stringify(wanted) });
    const reply = (await answer.json()) as TurnReply;
    if (asked !== this.asked) return null;
    if (!answer.ok) throw new Error(reply.text);
    this.found = reply;
    this.lines = reply.paths.map((path) => polyline(places(path), this.material));
    for (const line of this.lines) this.stage.view.scene.add(line);
    this.stage.view.touch();
    return reply.text;
  }
}

function places(path: number[]): Vec3[] {
  return Array.from({ length: path.length / 3 }, (_, k) => path.slice(3 * k, 3 * k + 3) as Vec3);
}
