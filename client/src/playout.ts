/**
 * When to show what of the frames: poses for every picture, about one frame late, so that there is always a frame to
 * go to. Frames come when the session has steps to show, pictures when the screen wants one. The time that is shown runs
 * as evenly as the frames allow: at their mean rate, drawn gently to where it should be behind the newest.
 *
 * What a person did (seek, undo, edits that move bodies, time that stands still) is shown at once.
 */

import { between, type Moment, POSE } from "./interpolate";

const LATE = 1.25; // frames that the picture is behind the newest, just after it has come
const GENTLE = 4; // frames in which a deviation from that is made good
const LEARN = 0.2; // share of a new frame in the means
const MOST = 8; // frames that are kept
const FRAMES = [1 / 60, 1 / 25]; // wall time between frames that the session aims at [s]
const STEPS = 4; // per frame, unless it was told otherwise

/** A frame as far as it matters here. */
export interface Arrival extends Moment {
  wall: number; // the session's clock when it was made [s]
  leaps: number;
  paused: boolean;
  speed: number; // simulated time over wall time that is asked for
  budget: number; // wall time of a step at that speed [s]
}

export class Playout {
  poses = new Float32Array(); // that are shown
  time = 0; // of them [s]
  private kept: Arrival[] = [];
  private gap = 0; // mean wall time between frames [s]
  private span = 0; // mean simulated time between them [s]
  private rate = 0; // of the time that is shown
  private now = Number.NaN; // wall time of the last picture [s]

  /** Nothing is shown until the next frame. */
  clear(): void {
    this.kept = [];
    this.poses = new Float32Array();
  }

  /** Show poses of a time [s] that come from elsewhere. */
  put(poses: Float32Array<ArrayBuffer>, time: number): void {
    this.kept = [];
    this.poses = poses;
    this.time = time;
  }

  /** The newest frame that has been shown in full, or the first one. */
  get shown(): Arrival | null {
    return this.kept[0] ?? null;
  }

  /** A frame has come; whether it is shown at once. */
  take(frame: Arrival): boolean {
    const newest = this.kept.at(-1);
    const goesOn =
      newest !== undefined &&
      newest.leaps === frame.leaps &&
      !frame.paused &&
      frame.time > newest.time &&
      newest.poses.length === frame.poses.length &&
      frame.twists.length === newest.twists.length;
    if (!goesOn) {
      this.kept = [frame];
      this.rate = 0;
      this.show(frame.time);
      return true;
    }
    if (newest.paused || newest.speed !== frame.speed || this.rate === 0) this.expect(frame);
    else {
      this.gap += LEARN * (frame.wall - newest.wall - this.gap);
      this.span += LEARN * (frame.time - newest.time - this.span);
    }
    this.kept.push(frame);
    const behind = frame.time - this.time;
    if (this.kept.length > MOST || behind > MOST * this.span) {
      this.kept.splice(0, this.kept.length - MOST); // a page that slept
      this.show(Math.max(this.time, frame.time - LATE * this.span));
    }
    this.rate = Math.max(0, this.span + (frame.time - this.time - LATE * this.span) / GENTLE) / this.gap;
    return false;
  }

  /** Go on to a wall time [s]; whether another pose is shown than before. */
  advance(now: number): boolean {
    const passed = now > this.now ? now - this.now : 0;
    this.now = now;
    const newest = this.kept.at(-1);
    if (!newest || this.kept.length < 2) return false;
    const time = Math.min(newest.time, this.time + this.rate * passed);
    if (time === this.time) return false;
    this.show(time);
    return true;
  }

  /** Frames as the session makes them at a speed. */
  private expect({ speed, budget }: Arrival): void {
    const [least, most] = FRAMES as [number, number];
    this.gap = Math.max(budget, Math.min(Math.max(STEPS * budget, least), most));
    this.span = speed * this.gap;
  }

  private show(time: number): void {
    this.time = time;
    while (this.kept.length > 2 && (this.kept[1] as Arrival).time <= time) this.kept.shift();
    const [a, b] = this.kept;
    if (!a) return;
    if (this.poses.length !== a.poses.length) this.poses = new Float32Array(POSE * (a.poses.length / POSE));
    if (b) between(a, b, Math.min(1, Math.max(0, (time - a.time) / (b.time - a.time))), this.poses);
    else this.poses.set(a.poses);
  }
}
