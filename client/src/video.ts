/** A motion as video, shot and not filmed: each picture is drawn for its own time and encoded, however long that takes. */

import { colour } from "./theme";
import type { View } from "./view";
import { Webm } from "./webm";

export const RATE = 60; // pictures a second
const KEY_EVERY = 60; // pictures
const QUEUE = 4; // pictures that wait for the encoder
const BITS = 0.12; // a pixel and picture
const CODECS = [
  ["vp09.00.41.08", "V_VP9"],
  ["vp8", "V_VP8"],
] as const;

export interface Shot {
  span: readonly [number, number]; // of the motion [s]
  speed: number; // of the motion against the video
  size: readonly [number, number]; // [px]
  stage?: readonly [number, number]; // of it for the picture of the mechanism, from the upper left corner
  /** Bring the picture to a time. */
  show(time: number): Promise<void> | void;
  /** Draw what belongs beside the picture, on its background. */
  beside?(pen: OffscreenCanvasRenderingContext2D, time: number): void;
  /** Hear of the pictures that are done. */
  tell(done: number, count: number): void;
  signal?: AbortSignal;
}

/** How many pictures a span [s] has at a speed. */
export function pictures([from, to]: readonly [number, number], speed: number): number {
  return Math.max(1, Math.round(((to - from) / speed) * RATE));
}

/** The video; where it is given up, the signal's reason is thrown. */
export async function shoot(view: View, shot: Shot): Promise<Blob> {
  const { span, speed, size, show, signal } = shot;
  const [width, height] = size;
  const count = pictures(span, speed);
  const [encoder, file, check] = await newEncoder(width, height);
  const sheet = new OffscreenCanvas(width, height);
  const pen = sheet.getContext("2d") as OffscreenCanvasRenderingContext2D;
  const film = view.film(...(shot.stage ?? size));
  try {
    for (let k = 0; k < count; k++) {
      signal?.throwIfAborted();
      const time = Math.min(span[1], span[0] + (k * speed) / RATE);
      await show(time);
      paint(pen, film.draw());
      shot.beside?.(pen, time);
      const frame = new VideoFrame(sheet, {
        timestamp: Math.round((k * 1e6) / RATE),
        duration: Math.round(1e6 / RATE),
      });
      encoder.encode(frame, { keyFrame: k % KEY_EVERY === 0 });
      frame.close();
      shot.tell(k + 1, count);
      do await pause();
      while (encoder.encodeQueueSize > QUEUE && !signal?.aborted && check());
    }
    await encoder.flush();
    check();
    return file.finish(count / RATE);
  } finally {
    film.end();
    if (encoder.state !== "closed") encoder.close();
  }
}

/** An encoder, the file that it writes, and what throws if it has failed. */
async function newEncoder(width: number, height: number): Promise<[VideoEncoder, Webm, () => true]> {
  if (typeof VideoEncoder === "undefined") throw new Error("video: this browser has no encoder (WebCodecs)");
  const settings = { width, height, bitrate: Math.round(BITS * width * height * RATE), framerate: RATE };
  const codec = await firstSupported(settings);
  const file = new Webm(codec[1], width, height);
  let problem: unknown = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      file.add({ data, time: chunk.timestamp / 1e6, isKey: chunk.type === "key" });
    },
    error: (error) => {
      problem = error;
    },
  });
  encoder.configure({ ...settings, codec: codec[0] });
  const check = (): true => {
    if (problem !== null) throw problem;
    return true;
  };
  return [encoder, file, check];
}

async function firstSupported(settings: { width: number; height: number }): Promise<(typeof CODECS)[number]> {
  for (const codec of CODECS)
    if ((await VideoEncoder.isConfigSupported({ ...settings, codec: codec[0] })).supported) return codec;
  throw new Error(`video: this browser encodes neither VP9 nor VP8 at ${settings.width} x ${settings.height}`);
}

/** The canvas, which is clear where nothing is, on the page's background. */
function paint(pen: OffscreenCanvasRenderingContext2D, canvas: HTMLCanvasElement): void {
  const back = pen.createLinearGradient(0, 0, 0, canvas.height);
  back.addColorStop(0, colour("canvas-top"));
  back.addColorStop(1, colour("canvas-bottom"));
  pen.fillStyle = back;
  pen.fillRect(0, 0, pen.canvas.width, pen.canvas.height);
  pen.drawImage(canvas, 0, 0);
}

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}
