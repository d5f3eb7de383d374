/**
 * A phone as a tracker: its pictures go to the studio, which finds the marker in them and so where the phone is; its
 * buttons hold and let go. The protocol is in src/impulsar/studio/ar_messages.py.
 */

import "./phone.css";
import { type Guide, PHONE_HEADER_BYTES, PHONE_MAGIC } from "./messages";

const UNDER_WAY = 2; // pictures at once: more would only come later
const LARGEST = 250_000; // bytes of a picture that the line takes
const QUALITIES = [0.9, 0.75, 0.5];
const AGAIN = 1000; // before a lost line is taken up again [ms]
const STUCK = 1000; // without an answer before pictures are sent again [ms]
const BUZZ = { clip: [40], release: [20, 40, 20], lost: [200] };

function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element '${id}'`);
  return found as T;
}

class Phone {
  readonly video = document.createElement("video");
  guide: Guide | null = null;
  sent = 0; // pictures
  private readonly canvas = byId<HTMLCanvasElement>("sight");
  private readonly words = byId("words");
  private readonly hold = byId<HTMLButtonElement>("hold");
  private readonly keep = byId<HTMLButtonElement>("keep");
  private socket: WebSocket | null = null;
  private isPressed = false;
  private isKept = false;
  private problem = "";
  private answered = 0; // when the last answer came [ms]
  private size = [0, 0]; // that the camera was asked for

  constructor() {
    this.video.muted = true;
    this.video.playsInline = true;
    this.hold.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.hold.setPointerCapture(event.pointerId);
      this.press(true);
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      this.hold.addEventListener(name, () => this.press(false));
    }
    this.hold.addEventListener("contextmenu", (event) => event.preventDefault());
    this.hold.addEventListener("keydown", ({ key, repeat }) => {
      if (!repeat && (key === " " || key === "Enter")) this.press(true);
    });
    this.hold.addEventListener("keyup", () => this.press(false));
    this.hold.addEventListener("blur", () => this.press(false));
    this.keep.addEventListener("click", () => {
      this.isKept = !this.isKept;
      this.tellButtons();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.letGo();
      else void this.stayAwake();
    });
    addEventListener("pagehide", () => this.letGo());
    this.connect();
    void this.stayAwake();
    this.show();
  }

  private press(isDown: boolean): void {
    if (isDown === this.isPressed) return;
    this.isPressed = isDown;
    this.tellButtons();
  }

  /** Nobody looks any more: nothing is held. */
  private letGo(): void {
    this.isPressed = this.isKept = false;
    this.tellButtons();
  }

  private get buttons(): number {
    return this.isPressed || this.isKept ? 1 : 0;
  }

  private tellButtons(): void {
    this.hold.setAttribute("aria-pressed", String(this.isPressed));
    this.keep.setAttribute("aria-pressed", String(this.isKept));
    this.keep.textContent = this.isKept ? "Release" : "Clip";
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(this.header(this.sent));
  }

  private header(number: number): ArrayBuffer {
    const view = new DataView(new ArrayBuffer(PHONE_HEADER_BYTES));
    view.setUint32(0, PHONE_MAGIC, true);
    view.setUint32(4, number, true);
    view.setUint32(8, this.buttons, true);
    return view.buffer;
  }

  private connect(): void {
    const url = new URL("phone-line", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.search = url.hash = "";
    const socket = new WebSocket(url);
    socket.addEventListener("message", ({ data }) => void this.hear(JSON.parse(data as string) as Guide));
    socket.addEventListener("close", () => {
      this.guide = null;
      this.isKept = false; // the studio has let go
      this.buzz("lost");
      setTimeout(() => this.connect(), AGAIN);
      this.tell();
    });
    this.socket = socket;
  }

  private async hear(guide: Guide): Promise<void> {
    const before = this.guide;
    this.guide = guide;
    this.answered = performance.now();
    if (before && guide.holds !== before.holds) this.buzz(guide.holds ? "clip" : "release");
    if (before?.state === "ok" && guide.state !== "ok") this.buzz("lost");
    if (this.isKept && (guide.state === "lost" || (before?.holds && !guide.holds))) {
      this.isKept = false; // found again, it takes nothing by itself
      this.tellButtons();
    }
    this.tell();
    if (this.size[0] === 0) {
      this.size = [guide.width, guide.height];
      await this.open(guide.width, guide.height);
    }
  }

  private async open(width: number, height: number): Promise<void> {
    try {
      if (!navigator.mediaDevices) throw new Error("this page was not opened over TLS, so browsers give it no camera");
      const wish = { width: { ideal: width }, height: { ideal: height }, facingMode: { ideal: "environment" } };
      const stream = await navigator.mediaDevices.getUserMedia({ video: wish, audio: false });
      this.video.srcObject = stream;
      await this.video.play();
      stream.getVideoTracks()[0]?.addEventListener("ended", () => this.fail("the camera has ended; reload the page"));
      this.next();
    } catch (error) {
      this.fail(`the camera: ${error instanceof Error ? error.message : error}`);
    }
  }

  private fail(problem: string): void {
    this.problem = problem;
    this.letGo();
    this.tell();
  }

  private next(): void {
    this.video.requestVideoFrameCallback(() => void this.send().finally(() => this.next()));
  }

  /** Show the picture, and send it when the one before has been looked at. */
  private async send(): Promise<void> {
    const { canvas, video, guide, socket } = this;
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    const pen = canvas.getContext("2d");
    pen?.drawImage(video, 0, 0);
    const waits = this.sent - (guide?.taken ?? 0) >= UNDER_WAY && performance.now() - this.answered < STUCK;
    if (guide && socket?.readyState === WebSocket.OPEN && !waits) {
      const jpeg = await this.packed();
      if (jpeg && socket.readyState === WebSocket.OPEN) {
        this.sent += 1;
        this.answered = performance.now();
        socket.send(await new Blob([this.header(this.sent), jpeg]).arrayBuffer());
      }
    }
    if (pen) this.drawTip(pen);
  }

  /** The picture as JPEG, as good as the line takes it. */
  private async packed(): Promise<Blob | null> {
    for (const quality of QUALITIES) {
      const blob = await new Promise<Blob | null>((done) => this.canvas.toBlob(done, "image/jpeg", quality));
      if (blob && blob.size < LARGEST) return blob;
    }
    return null;
  }

  private drawTip(pen: CanvasRenderingContext2D): void {
    const [x, y] = this.guide?.pixel ?? [];
    if (x === undefined || y === undefined) return;
    const r = this.canvas.width / 30;
    pen.lineWidth = r / 8;
    pen.strokeStyle = this.guide?.holds ? "#ffa94d" : this.guide?.state === "ok" ? "#56d193" : "#ff8a73";
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    for (const side of [-1, 1]) {
      pen.moveTo(x + 0.5 * r * side, y);
      pen.lineTo(x + 1.6 * r * side, y);
      pen.moveTo(x, y + 0.5 * r * side);
      pen.lineTo(x, y + 1.6 * r * side);
    }
    pen.stroke();
  }

  /** Say how it is, and what is held. */
  private tell(): void {
    const { guide, problem } = this;
    const state = problem ? "lost" : !guide ? "lost" : guide.holds ? "held" : guide.state;
    document.body.dataset.state = state;
    const calm = guide?.state === "ok" ? "The marker is seen. Put the tip to a body, and hold." : "";
    const text = problem || (guide ? guide.why || (guide.holds ? `Holds ${guide.holds}.` : guide.told || calm) : "");
    this.words.textContent = text || "The line to the studio is lost; trying again.";
  }

  private buzz(what: keyof typeof BUZZ): void {
    navigator.vibrate?.(BUZZ[what]);
  }

  private async stayAwake(): Promise<void> {
    try {
      await navigator.wakeLock?.request("screen");
    } catch {
      // a browser that lets the screen go dark: the page is hidden then, and nothing is held
    }
  }

  private show(): void {
    this.tell();
    Object.assign(window, { phone: () => ({ guide: this.guide, sent: this.sent, buttons: this.buttons }) });
  }
}

new Phone();
