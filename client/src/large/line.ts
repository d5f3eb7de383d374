/** The line to a large world's session: requests are answered or fail in words; a lost line is taken up again. */

import { openSocket, request, type Socket } from "../host";
import {
  decodeLarge,
  type LargeControl,
  type LargeFrame,
  type LargePull,
  type LargeServerMessage,
  type Reply,
} from "../messages";

const FIRST_WAIT = 400; // [ms]
const LONGEST_WAIT = 5000; // [ms]

export interface Listener {
  message(message: Exclude<LargeServerMessage, Reply>): void;
  frame(frame: LargeFrame, bytes: number): void;
  open(): void;
  lost(reason: string): void;
  unknown(): void; // there is a studio, and it does not know this page
}

export interface Look {
  frame: number;
  eye: number[];
  planes: number[][];
}

type Waiting = { resolve: (reply: Reply) => void; reject: (error: Error) => void };

export class Line {
  private socket: Socket | null = null;
  private waiting = new Map<number, Waiting>();
  private last = 0;
  private wait = FIRST_WAIT;

  constructor(private readonly listener: Listener) {
    addEventListener("online", () => this.connect());
    this.connect();
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
    if (this.socket?.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ type: "large-look", id: this.next(), ...look }));
  }

  /** Pull a body, or let go of it. */
  pull(pull: Omit<LargePull, "id" | "type">): void {
    if (this.socket?.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ type: "large-pull", id: this.next(), ...pull }));
  }

  private next(): number {
    this.last = (this.last % 0xffffffff) + 1;
    return this.last;
  }

  private ask(message: object): Promise<Reply> {
    const socket = this.socket;
    if (!socket || socket.readyState !== WebSocket.OPEN)
      return Promise.reject(new Error("not connected to the studio; wait until the line is back"));
    const id = this.next();
    socket.send(JSON.stringify({ ...message, id }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  private connect(): void {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const socket = openSocket("large-line");
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.listener.open();
    });
    socket.addEventListener("message", ({ data }) => this.receive(data));
    socket.addEventListener("close", ({ reason }) => {
      for (const { reject } of this.waiting.values())
        reject(new Error("the line to the studio was lost before it answered"));
      this.waiting.clear();
      this.listener.lost(reason);
      setTimeout(() => void this.again(), this.wait);
      this.wait = Math.min(this.wait * 1.6, LONGEST_WAIT);
    });
  }

  private async again(): Promise<void> {
    const answer = await request("api/large").catch(() => null);
    if (answer && [401, 403].includes(answer.status)) this.listener.unknown();
    else this.connect();
  }

  private receive(data: string | ArrayBuffer): void {
    if (data instanceof ArrayBuffer) {
      this.listener.frame(decodeLarge(data), data.byteLength);
      return;
    }
    const message = JSON.parse(data) as LargeServerMessage;
    if (message.type !== "reply") {
      this.listener.message(message);
      return;
    }
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (message.ok) waiting.resolve(message);
    else waiting.reject(new Error(message.text));
  }
}
