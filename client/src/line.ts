/** A WebSocket to the studio: every request is answered or fails in words; a lost line is taken up again. */

import { openSocket, request, type Socket } from "./host";
import type { Reply } from "./messages";

const FIRST_WAIT = 400; // [ms]
const LONGEST_WAIT = 5000; // [ms]

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

export interface LineListener<Told> {
  message(message: Told): void;
  open(): void;
  lost(reason: string): void;
  unknown(): void; // there is a studio, and it does not know this page
}

export abstract class Line<Told extends { type: string }, Listener extends LineListener<Told>> {
  private socket: Socket | null = null;
  private waiting = new Map<number, Waiting>();
  private last = 0;
  private wait = FIRST_WAIT;

  /** path: of the line; asked: what a server answers that knows this page. */
  constructor(
    protected readonly listener: Listener,
    private readonly path: string,
    private readonly asked: string,
  ) {
    addEventListener("online", () => this.connect());
    this.connect();
  }

  /** Take what comes in bytes. */
  protected abstract bytes(data: ArrayBuffer): void;

  /** The line is open, anew perhaps. */
  protected opened(): void {
    this.listener.open();
  }

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

  /** Send what is answered. */
  protected ask(message: object): Promise<Reply> {
    if (!this.tell(message))
      return Promise.reject(new Error("not connected to the studio; wait until the line is back"));
    const id = this.last;
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  /** Send, whether or not it is answered; false where there is no line. */
  protected tell(message: object): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.last = this.nextId;
    this.socket.send(JSON.stringify({ ...message, id: this.last }));
    return true;
  }

  private connect(): void {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const socket = openSocket(this.path);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.opened();
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

  /** Take the line up again, unless who answers refuses this page: a studio that was started anew has other tokens. */
  private async again(): Promise<void> {
    const answer = await request(this.asked).catch(() => null);
    if (answer && [401, 403].includes(answer.status)) this.listener.unknown();
    else this.connect();
  }

  private receive(data: string | ArrayBuffer): void {
    if (data instanceof ArrayBuffer) {
      this.bytes(data);
      return;
    }
    const message = JSON.parse(data) as Told | Reply;
    if (!isReply(message)) {
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

function isReply(message: { type: string }): message is Reply {
  return message.type === "reply";
}
