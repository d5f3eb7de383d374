/** The line to a large world's session. */

import { Line, type LineListener } from "../line";
import {
  decodeLarge,
  type LargeControl,
  type LargeFrame,
  type LargePull,
  type LargeServerMessage,
  type Reply,
} from "../messages";

type Told = Exclude<LargeServerMessage, Reply>;

export interface Listener extends LineListener<Told> {
  frame(frame: LargeFrame, bytes: number): void;
}

export interface Look {
  frame: number;
  eye: number[];
  planes: number[][];
}

export class LargeLine extends Line<Told, Listener> {
  constructor(listener: Listener) {
    super(listener, "large-line", "api/large");
  }

  control(action: LargeControl["action"], value: number | null = null): Promise<Reply> {
    return this.ask({ type: "large-control", action, value });
  }

  /** What a small world would take. */
  edit(edit: Record<string, unknown>): Promise<Reply> {
    return this.ask({ type: "edit", edit });
  }

  /** Tell which frame was drawn, and where the eye is. */
  look(look: Look): void {
    this.tell({ type: "large-look", ...look });
  }

  /** Pull a body, or let go of it. */
  pull(pull: Omit<LargePull, "id" | "type">): void {
    this.tell({ type: "large-pull", ...pull });
  }

  protected override bytes(data: ArrayBuffer): void {
    this.listener.frame(decodeLarge(data), data.byteLength);
  }
}
