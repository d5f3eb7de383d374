/** The browser's own camera: its pictures go to the studio, which says where the marker is in each. */

import type { Lens } from "../messages";
import { PICTURE_HEADER_BYTES, PICTURE_MAGIC } from "../messages";

const WAITING = 6; // pictures that are kept until their poses come
const QUALITY = 0.85;
const MOST = 4; // pictures under way at once: more would only come later

export class OwnCamera {
  private readonly video = document.createElement("video");
  private readonly pad = document.createElement("canvas");
  private kept = new Map<number, { picture: ImageBitmap; time: number }>(); // and when each was taken [s]
  private number = 0;
  private stream: MediaStream | null = null;
  private isClosed = false;

  constructor(
    private readonly socket: WebSocket,
    private readonly lens: Lens,
    private readonly tell: (why: string) => void,
  ) {
    this.pad.width = lens.width;
    this.pad.height = lens.height;
    this.video.muted = true;
    this.video.playsInline = true;
    void this.open();
  }

  /** The picture of a number, which is then the caller's; those before it go. */
  take(number: number): { picture: ImageBitmap; time: number } | null {
    const found = this.kept.get(number);
    for (const [own, old] of [...this.kept]) {
      if (own > number) continue;
      this.kept.delete(own);
      if (own < number) old.picture.close();
    }
    return found ?? null;
  }

  close(): void {
    this.isClosed = true;
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    for (const { picture } of this.kept.values()) picture.close();
    this.kept.clear();
  }

  private async open(): Promise<void> {
    const { width, height } = this.lens;
    try {
      if (!navigator.mediaDevices) throw new Error("this page was not opened over TLS, so browsers give it no camera");
      const wish = { width: { ideal: width }, height: { ideal: height }, facingMode: { ideal: "environment" } };
      this.stream = await navigator.mediaDevices.getUserMedia({ video: wish, audio: false });
      if (this.isClosed) return this.close();
      this.video.srcObject = this.stream;
      await this.video.play();
      this.stream.getVideoTracks()[0]?.addEventListener("ended", () => this.tell("the browser's camera has ended"));
      this.next();
    } catch (error) {
      this.tell(`the browser's camera: ${error instanceof Error ? error.message : error}`);
    }
  }

  private next(): void {
    if (!this.isClosed) this.video.requestVideoFrameCallback(() => void this.send().finally(() => this.next()));
  }

  private async send(): Promise<void> {
    const { video, lens, socket, pad } = this;
    if (this.kept.size >= WAITING) for (const number of [...this.kept.keys()].slice(0, 1)) this.drop(number);
    if (socket.readyState !== WebSocket.OPEN || this.kept.size >= MOST) return;
    if (video.videoWidth !== lens.width || video.videoHeight !== lens.height) {
      const found = `${video.videoWidth} x ${video.videoHeight}`;
      this.tell(`the browser's camera gives ${found} pixels, it was calibrated with ${lens.width} x ${lens.height}`);
    }
    const time = Date.now() / 1000;
    this.number += 1;
    const number = this.number;
    pad.getContext("2d")?.drawImage(video, 0, 0, lens.width, lens.height);
    this.kept.set(number, { picture: await createImageBitmap(pad), time });
    const blob = await new Promise<Blob | null>((done) => pad.toBlob(done, "image/jpeg", QUALITY));
    if (!blob || this.isClosed || socket.readyState !== WebSocket.OPEN) return;
    const header = new DataView(new ArrayBuffer(PICTURE_HEADER_BYTES));
    header.setUint32(0, PICTURE_MAGIC, true);
    header.setUint32(4, number, true);
    header.setFloat64(8, time, true);
    socket.send(await new Blob([header, blob]).arrayBuffer());
  }

  private drop(number: number): void {
    this.kept.get(number)?.picture.close();
    this.kept.delete(number);
  }
}
