/** The WebSocket to the session: every request is answered or fails in words; a lost line is taken up again. */

import type { Edit } from "./edits";
import { openSocket, request, type Socket } from "./host";
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

type Waiting = { resolve: (reply: Reply) => void; reject: (error: Error) => void };
type Request = ClientMessage extends infer M ? (M extends ClientMessage ? Omit<M, "id"> : never) : never;

const FIRST_WAIT = 400; // [ms]
const LONGEST_WAIT = 5000; // [ms]

export interface Listener {
  message(message: Exclude<ServerMessage, Reply>): void;
  frame(frame: Frame): void;
  rows(rows: Rows): void;
  open(): void;
  lost(reason: string): void;
  unknown(): void; // there is a studio, and it does not know this page
}

export class Refused extends Error {}

export class Connection {
  private socket: Socket | null = null;
  private waiting = new Map<number, Waiting>();
  private last = 0;
  private wait = FIRST_WAIT;

  constructor(private readonly listener: Listener) {
    addEventListener("online", () => this.connect());
    this.connect();
  }

  /** Send an edit: `{edit: "Grab", ...}` with the fields of the engine's edit. */
  edit(edit: Edit): Promise<Reply> {
    return this.request({ type: "edit", edit });
  }

  control(action: Control["action"], options: Partial<Omit<Control, "id" | "type" | "action">> = {}): Promise<Reply> {
    return this.request({ type: "control", action, ...options });
  }

  subscribe(signals: string[], points: Point[] = []): Promise<Reply> {
    return this.request({ type: "subscribe", signals, points });
  }

  /** Id of the last edit or control. */
  lastChange = 0;

  /** Requests that are not answered yet. */
  get unanswered(): number {
    return this.waiting.size;
  }

  /** Id that the next request will have. */
  get nextId(): number {
    return (this.last % 0xffffffff) + 1;
  }

  /** For tests and for "try now": drop the line; it is taken up again. */
  drop(): void {
    this.socket?.close();
  }

  private request(message: Request): Promise<Reply> {
    const socket = this.socket;
    if (!socket || socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Error("not connected to the studio; wait until the line is back"));
    }
    this.last = this.nextId;
    const id = this.last;
    if (message.type !== "subscribe") this.lastChange = id;
    socket.send(JSON.stringify({ ...message, id }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  private connect(): void {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const socket = openSocket("ws");
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.lastChange = 0;
      this.wait = FIRST_WAIT;
      this.listener.open();
    });
    socket.addEventListener("message", (event) => this.receive(event.data));
    socket.addEventListener("close", (event) => {
      for (const { reject } of this.waiting.values())
        reject(new Error("the line to the studio was lost before it answered"));
      this.waiting.clear();
      this.listener.lost(event.reason);
      setTimeout(() => void this.again(), this.wait);
      this.wait = Math.min(this.wait * 1.6, LONGEST_WAIT);
    });
  }

  /** Take the line up again, unless who answers refuses this page: a studio that was started anew has other tokens. */
  private async again(): Promise<void> {
    const answer = await request("api/scenes").catch(() => null);
    if (answer && [401, 403].includes(answer.status)) this.listener.unknown();
    else this.connect();
  }

  private receive(data: string | ArrayBuffer): void {
    if (data instanceof ArrayBuffer) {
      const rows = decodeRows(data);
      if (rows) this.listener.rows(rows);
      else this.listener.frame(decodeFrame(data));
      return;
    }
    const message = JSON.parse(data) as ServerMessage;
    if (message.type !== "reply") {
      this.listener.message(message);
      return;
    }
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (message.ok) waiting.resolve(message);
    else waiting.reject(new Refused(message.text));
  }
}
