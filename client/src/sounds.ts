/** Sounds, made of a few oscillations each: a hand that takes or lets go, a joint at its limit, an impact. */

import { endsOf } from "./ends";
import { recall, remember } from "./memory";
import type { Frame, Joint } from "./messages";
import type { Stage } from "./stage";

const KEY = "sounds";
const AT = 0.01; // of a joint's range: so near to a limit it is at it
const FREE = 0.03; // so far away it has left
const QUIET = 90; // [ms] between sounds of a kind
const HARD = 4; // times the usual force of contacts: an impact
const USUAL = 0.1; // share of a new frame in the usual force
const LIGHT = 0.05; // of the weight: a force that makes no sound

/** Frequency from and to [Hz], how long [s], how loud (0 to 1), shape. */
interface Tone {
  from: number;
  to: number;
  long: number;
  loud: number;
  shape: OscillatorType;
}

const TONES = {
  clip: { from: 900, to: 1400, long: 0.06, loud: 0.25, shape: "triangle" },
  release: { from: 700, to: 380, long: 0.09, loud: 0.22, shape: "triangle" },
  limit: { from: 210, to: 150, long: 0.12, loud: 0.4, shape: "square" },
  impact: { from: 130, to: 45, long: 0.16, loud: 0.7, shape: "sine" },
} satisfies Record<string, Tone>;
export type Sound = keyof typeof TONES;

export class Sounds {
  readonly counts: Record<Sound, number> = { clip: 0, release: 0, limit: 0, impact: 0 }; // made so far
  private wish: boolean | null; // null: nobody has chosen; then they are on in a headset only
  private isWorn = false;
  private audio: AudioContext | null = null;
  private last: Partial<Record<Sound, number>> = {}; // [ms]
  private hands: Set<string> | null = null;
  private atLimit = new Set<string>();
  private usual = 0; // force of all contacts [N]

  constructor(private readonly stage: Stage) {
    const { wish } = recall<{ wish?: boolean }>(KEY, {});
    this.wish = typeof wish === "boolean" ? wish : null;
    const { store } = stage;
    store.on("topology", () => {
      this.atLimit.clear();
      this.usual = 0;
    });
    store.on("live", ({ hands }) => this.hear(new Set(hands.map(({ name }) => name))));
    store.on("frame", (frame) => {
      if (!this.isOn) return;
      this.contacts(frame);
      for (const joint of store.scene?.joints ?? []) this.limits(joint);
    });
  }

  get isOn(): boolean {
    return this.wish ?? this.isWorn;
  }

  toggle(): void {
    this.wish = !this.isOn;
    remember(KEY, { wish: this.wish });
  }

  inHeadset(on: boolean): void {
    this.isWorn = on;
  }

  /** Make a sound, so loud as a share of its own. */
  play(sound: Sound, share = 1): void {
    const now = performance.now();
    if (!this.isOn || now - (this.last[sound] ?? 0) < QUIET) return;
    this.last[sound] = now;
    this.counts[sound] += 1;
    this.audio ??= new AudioContext();
    if (this.audio.state === "suspended") void this.audio.resume(); // until somebody has pressed something
    const { from, to, long, loud, shape } = TONES[sound];
    const [tone, volume, start] = [this.audio.createOscillator(), this.audio.createGain(), this.audio.currentTime];
    tone.type = shape;
    tone.frequency.setValueAtTime(from, start);
    tone.frequency.exponentialRampToValueAtTime(to, start + long);
    volume.gain.setValueAtTime(loud * Math.min(1, share), start);
    volume.gain.exponentialRampToValueAtTime(1e-3, start + long);
    tone.connect(volume).connect(this.audio.destination);
    tone.start(start);
    tone.stop(start + long);
  }

  private hear(hands: Set<string>): void {
    const before = this.hands;
    this.hands = hands;
    if (!before) return;
    if ([...hands].some((name) => !before.has(name))) this.play("clip");
    if ([...before].some((name) => !hands.has(name))) this.play("release");
  }

  private contacts({ contacts }: Frame): void {
    let force = 0;
    for (let k = 0; k < contacts.length; k += 7) force += Math.hypot(...contacts.subarray(k + 3, k + 6));
    const { scene } = this.stage.store;
    const weight =
      Math.hypot(...(scene?.gravity ?? [])) * (scene?.bodies ?? []).reduce((sum, { mass }) => sum + mass, 0);
    const least = LIGHT * weight;
    if (force > Math.max(HARD * this.usual, least)) this.play("impact", force / (force + 2 * weight));
    this.usual += USUAL * (force - this.usual);
  }

  private limits(joint: Joint): void {
    const { mechanism } = this.stage;
    const ends = endsOf(joint, mechanism.frameF(joint), mechanism.frameM(joint));
    if (!ends) return;
    const gap = Math.min(ends.low, ends.high) / (ends.low + ends.high);
    if (gap > FREE) this.atLimit.delete(joint.name);
    else if (gap < AT && !this.atLimit.has(joint.name)) {
      this.atLimit.add(joint.name);
      this.play("limit");
    }
  }
}
