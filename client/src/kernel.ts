/**
 * The session in a notebook's kernel (src/impulsar/studio/tunnel.py): requests and sockets go as messages through one
 * port, at whose other end the notebook's widget hands them to the kernel.
 */

import type { Host, Socket } from "./host";

/** What goes through the port: a head in words, and bytes. */
export interface Parcel {
  head: Head;
  data: ArrayBuffer | null;
}

interface Head {
  kind: "ask" | "answer" | "open" | "opened" | "text" | "bytes" | "close" | "got";
  id: number;
  path?: string;
  method?: string;
  type?: string;
  status?: number;
  text?: string;
  count?: number;
}

const ACKNOWLEDGED = 4; // messages of a socket at once

export class Kernel implements Host {
  private last = 0;
  private asked = new Map<number, (response: Response) => void>();
  private sockets = new Map<number, KernelSocket>();

  constructor(private readonly port: MessagePort) {
    port.onmessage = ({ data }: MessageEvent<Parcel>) => this.take(data);
  }

  async request(path: string, init: RequestInit): Promise<Response> {
    this.last += 1;
    const id = this.last;
    const body = await new Response(init.body ?? null).arrayBuffer();
    const type = new Headers(init.headers).get("Content-Type") ?? "";
    const answer = new Promise<Response>((resolve, reject) => {
      this.asked.set(id, resolve);
      init.signal?.addEventListener("abort", () => {
        this.asked.delete(id);
        reject(new DOMException("no longer wanted", "AbortError"));
      });
    });
    this.put({ head: { kind: "ask", id, path, method: init.method ?? "GET", type }, data: body });
    return answer;
  }

  socket(path: string): Socket {
    this.last += 1;
    const socket = new KernelSocket(this, this.last);
    this.sockets.set(this.last, socket);
    this.put({ head: { kind: "open", id: this.last, path }, data: null });
    return socket as unknown as Socket; // listeners are typed by name there
  }

  put(parcel: Parcel): void {
    this.port.postMessage(parcel, parcel.data ? [parcel.data] : []);
  }

  private take({ head, data }: Parcel): void {
    if (head.kind !== "answer") {
      this.sockets.get(head.id)?.take(head, data);
      if (head.kind === "close") this.sockets.delete(head.id);
      return;
    }
    const { status = 500, type = "" } = head;
    this.asked.get(head.id)?.(new Response(data, { status, headers: { "Content-Type": type } }));
    this.asked.delete(head.id);
  }
}

class KernelSocket extends EventTarget {
  binaryType: BinaryType = "arraybuffer";
  readyState: number = WebSocket.CONNECTING;
  private taken = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly id: number,
  ) {
    super();
  }

  send(data: string): void {
    this.kernel.put({ head: { kind: "text", id: this.id, text: data }, data: null });
  }

  close(): void {
    this.kernel.put({ head: { kind: "close", id: this.id }, data: null });
  }

  take(head: Head, data: ArrayBuffer | null): void {
    if (head.kind === "opened") {
      this.readyState = WebSocket.OPEN;
      this.dispatchEvent(new Event("open"));
    } else if (head.kind === "close") {
      this.readyState = WebSocket.CLOSED;
      this.dispatchEvent(new CloseEvent("close", { reason: head.text ?? "" }));
    } else {
      this.taken += 1;
      if (this.taken % ACKNOWLEDGED === 0)
        this.kernel.put({ head: { kind: "got", id: this.id, count: this.taken }, data: null });
      this.dispatchEvent(new MessageEvent("message", { data: head.kind === "text" ? head.text : data }));
    }
  }
}
