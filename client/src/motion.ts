/** A recorded motion: samples of poses and twists, and what is shown between them. */

import { between, type Moment, POSE, TWIST } from "./interpolate";
import { BOOKS, FLAGS, type Frame } from "./messages";

/** What a file, or the studio, holds of one: times [s] and 13 numbers a body, packed. */
export interface Packed {
  times: number[];
  moments: string; // base64 of deflated float32: poses, then twists, of each sample
}

export class Motion {
  readonly poses: Float32Array<ArrayBuffer>; // as they are shown
  private readonly samples: Moment[];

  constructor(
    readonly times: readonly number[],
    data: Float32Array,
    readonly bodies: number,
  ) {
    const stride = (POSE + TWIST) * bodies;
    this.samples = times.map((time, k) => ({
      time,
      poses: data.subarray(stride * k, stride * k + POSE * bodies),
      twists: data.subarray(stride * k + POSE * bodies, stride * (k + 1)),
    }));
    this.poses = new Float32Array(POSE * bodies);
  }

  get first(): number {
    return this.times[0] ?? 0;
  }

  get last(): number {
    return this.times.at(-1) ?? 0;
  }

  /** Both ends of every stretch between samples. */
  stretches(): [Moment, Moment][] {
    return this.samples.slice(1).map((b, k) => [this.samples[k] as Moment, b]);
  }

  /** Bring the poses to a time, by cubics through poses and velocities. */
  bring(time: number): void {
    const { samples } = this;
    let k = Math.max(0, samples.findIndex((sample) => sample.time > time) - 1);
    if (time >= this.last) k = Math.max(0, samples.length - 2);
    const [a, b] = [samples[k], samples[k + 1]];
    if (a && b) between(a, b, Math.min(1, Math.max(0, (time - a.time) / (b.time - a.time))), this.poses);
    else if (a) this.poses.set(a.poses);
  }

  /** The poses as a frame of a session that stands still. */
  frame(time: number, generation: number): Frame {
    const none = new Float32Array();
    return {
      magic: 0,
      generation,
      time,
      wall: 0,
      step: 0,
      flags: FLAGS.paused,
      revision: 0,
      applied: 0,
      subscription: 0,
      leaps: 0,
      books: new Float32Array(BOOKS.length),
      poses: this.poses.slice(),
      twists: new Float32Array(TWIST * this.bodies),
      hands: none,
      loads: none,
      contacts: none,
      reactions: none,
      motors: none,
      accelerations: none,
      signals: none,
      marks: new Uint8Array(),
    };
  }
}

export async function unpack({ times, moments }: Packed, bodies: number): Promise<Motion> {
  const bytes = Uint8Array.from(atob(moments), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Motion(times, new Float32Array(await new Response(stream).arrayBuffer()), bodies);
}
