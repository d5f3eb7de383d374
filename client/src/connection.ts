/** The line to the session. */

import type { Edit } from "./edits";
import { Line, type LineListener } from "./line";
import {
  type ClientMessage,
  type Control,
  decodeFrame,
  decodeRows,
  type Frame,
  type Point,
  type Reply,
  type Rows,
  type ServerMessage,
} from "./messages";

type Request = ClientMessage extends infer M ? (M extends ClientMessage ? Omit<M, "id"> : never) : never;
type Told = Exclude<ServerMessage, Reply>;

export interface Listener extends LineListener<Told> {
  frame(frame: Frame): void;
  rows(rows: Rows): void;
}

export class Connection extends Line<Told, Listener> {
  /** Id of the last edit or control. */
  lastChange = 0;

  constructor(listener: Listener) {
    super(listener, "ws", "api/scenes");
  }

  /** Send an edit: `{edit: "Grab", ...}` with the fields of the engine's edit. */
  edit(edit: Edit): Promise<Reply> {
    return this.change({ type: "edit", edit });
  }

  control(action: Control["action"], options: Partial<Omit<Control, "id" | "type" | "action">> = {}): Promise<Reply> {
    return this.change({ type: "control", action, ...options });
  }

  subscribe(signals: string[], points: Point[] = []): Promise<Reply> {
    const message: Request = { type: "subscribe", signals, points };
    return this.ask(message);
  }

  private change(message: Request): Promise<Reply> {
    const id = this.nextId;
    const reply = this.ask(message);
    if (this.nextId !== id) this.lastChange = id;
    return reply;
  }

  protected override opened(): void {
    this.lastChange = 0;
    super.opened();
  }

  protected override bytes(data: ArrayBuffer): void {
    const rows = decodeRows(data);
    if (rows) this.listener.rows(rows);
    else this.listener.frame(decodeFrame(data));
  }
}
