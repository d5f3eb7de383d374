/**
 * A gamepad or joystick at work: its axes are speeds of motors and of a hand, its button holds what is picked. All of it
 * stops when the gamepad goes, the page is left, or another scene comes.
 */

import { Stream } from "../actions";
import type { Table } from "../edits";
import { endsOf } from "../ends";
import type { Grab, Hold } from "../grab";
import type { Motor } from "../messages";
import type { Motions } from "../motions";
import { roundNumber } from "../numbers";
import type { Stage } from "../stage";
import { tell, tellError } from "../toasts";
import { type Course, type Freedom, freedomsOf, goOn, type Mapping, shaped, WAYS } from "./mapping";

const FINE = 1e-3; // of the most: changes below it are not sent
const BRAKE = 0.4; // time in which what is left to a limit is gone through, more than it takes to be slower [s]
const END = 0.01; // of the range that is left before a limit
const LATE = 0.05; // wall time in which an edit is in the session [s]
const LONGEST = 0.1; // time between two looks at the axes that counts [s]

export class Driver {
  private readonly streams = new Map<string, Stream>();
  private readonly courses = new Map<string, Course>(); // of speeds that were sent, by freedom
  private readonly asked = new Set<string>(); // freedoms whose motor is being put in
  private hold: Hold | null = null;
  private last = Number.NaN; // [ms]

  constructor(
    private readonly stage: Stage,
    private readonly grab: Grab,
    private readonly motions: Motions,
  ) {
    stage.store.on("opened", () => this.forget());
    stage.store.on("jump", () => this.courses.clear()); // motors are as they were at that time
  }

  get isHolding(): boolean {
    return this.hold !== null;
  }

  /** What the axes say now. */
  tick(
    pad: { axes: readonly number[]; buttons: readonly { pressed: boolean }[] },
    mapping: Mapping,
    now: number,
  ): void {
    const passed = Math.min(Math.max(now - this.last, 0) / 1000 || 0, LONGEST);
    this.last = now;
    const { scene, live } = this.stage.store;
    if (!scene) return;
    this.press(pad.buttons[mapping.grab]?.pressed ?? false);
    const freedoms = new Map(freedomsOf(scene, live?.motors ?? []).map((freedom) => [freedom.key, freedom]));
    const speeds = new Map<string, number>(); // two axes on one motor add up
    const hand = WAYS.map(() => 0);
    mapping.axes.forEach(({ to, most, isTurned }, k) => {
      const speed = shaped(pad.axes[k] ?? 0, mapping.dead) * most * (isTurned ? -1 : 1);
      const way = (WAYS as readonly string[]).indexOf(to);
      if (way >= 0) hand[way] = (hand[way] ?? 0) + speed;
      else if (freedoms.has(to)) speeds.set(to, (speeds.get(to) ?? 0) + speed);
    });
    for (const key of this.courses.keys()) if (!speeds.has(key)) speeds.set(key, 0); // no axis drives it any more
    const most = Math.max(...mapping.axes.map((axis) => Math.abs(axis.most)), 0);
    for (const [key, speed] of speeds) {
      const freedom = freedoms.get(key);
      if (freedom) this.drive(freedom, speed, FINE * most);
    }
    this.moveHand(hand, passed);
  }

  /** Everything stands still, nothing is held. */
  stop(): void {
    for (const [key, course] of this.courses) {
      const [joint, group] = JSON.parse(key) as [string, string];
      if (course.at(-1)?.[1] !== 0) this.send(key, { joint, group }, course, 0);
    }
    this.forget();
  }

  private forget(): void {
    this.hold?.release();
    this.hold = null;
    this.courses.clear();
    this.asked.clear();
  }

  private press(isDown: boolean): void {
    const { pick } = this.stage.store;
    if (isDown && !this.hold && pick?.kind === "body") this.hold = this.grab.take(pick.name, pick.at ?? [0, 0, 0]);
    else if (!isDown && this.hold) {
      this.hold.release();
      this.hold = null;
    }
  }

  /** Move the hand across and along the sight [m/s]. */
  private moveHand(speeds: number[], passed: number): void {
    const [right = 0, up = 0, away = 0] = speeds;
    const way = Math.hypot(right, up, away) * passed;
    if (!this.hold || way === 0) return;
    const pixels = 1 / this.stage.view.pixel(this.hold.target);
    this.hold.nudge(right * passed * pixels, up * passed * pixels, away * passed * pixels);
  }

  /** Have a freedom go at a speed, from where its course has brought it. */
  private drive(freedom: Freedom, wish: number, fine: number): void {
    const { key, joint, group } = freedom;
    const course = this.courses.get(key);
    const speed = this.withinEnds(joint, wish);
    if (!course) {
      if (speed !== 0) void this.begin(freedom).catch(tellError); // motors are left alone until their axis is moved
      return;
    }
    const [end = 0, last = 0] = course.at(-1) ?? [];
    if (Math.abs(speed - last) < fine && (speed !== 0 || last === 0)) return;
    if (this.time + this.late < end || !(this.streams.get(key)?.isIdle ?? true)) return; // it is still on its way there
    this.send(key, { joint, group }, course, speed);
  }

  /** No faster than it can still be stopped before a limit, as an end switch has it. */
  private withinEnds(name: string, speed: number): number {
    const { store, mechanism } = this.stage;
    const joint = store.joint(name);
    const ends = joint && endsOf(joint, mechanism.frameF(joint), mechanism.frameM(joint));
    if (!ends) return speed;
    const room = (way: number): number => Math.max(0, way - END * (ends.low + ends.high)) / BRAKE;
    return Math.max(Math.min(speed, room(ends.high)), -room(ends.low));
  }

  private get time(): number {
    return this.stage.store.frame?.time ?? 0;
  }

  /** Simulated time in which an edit is in the session [s]. */
  private get late(): number {
    return LATE * Math.max(this.stage.store.status?.speed ?? 1, 1e-3);
  }

  private send(key: string, { joint, group }: { joint: string; group: string }, course: Course, speed: number): void {
    let stream = this.streams.get(key);
    if (!stream) {
      stream = new Stream(this.stage.actions);
      this.streams.set(key, stream);
    }
    const next = goOn(course, this.time + this.late, roundNumber(speed));
    this.courses.set(key, next);
    stream.send({ edit: "Drive", joint, value: tableOf(next), group });
  }

  /**
   * Have a motor by speed in the joint, which brings it from its present speed to rest. One with a bound on its torque
   * would be given another speed than it has, by what the answer is late: that costs more steps than there are.
   */
  private async begin({ key, joint, group }: Freedom): Promise<void> {
    if (this.asked.has(key)) return;
    this.asked.add(key);
    const { store, actions } = this.stage;
    const motor: Motor | undefined = store.live?.motors.find((one) => one.joint === joint && one.group === group);
    const entry = store.joint(joint)?.groups.find(({ name }) => name === group);
    if (!entry) return;
    const now = await this.motions.now(entry, "velocity");
    const course = goOn([[this.time + this.late, now]], this.time + this.late, 0);
    const reply = await actions.apply({
      edit: "SetMotor",
      joint,
      group,
      motor: { motor: "speed", value: tableOf(course) },
    });
    if (!reply) return; // refused, and told: not asked for again in this scene
    this.courses.set(key, course);
    this.asked.delete(key);
    if (motor) tell(`joint '${joint}': its motor goes by speed now, with any torque; undo brings the one before back`);
  }
}

function tableOf(course: Course): Table {
  return { profile: "table", times: course.map(([time]) => time), values: course.map(([, speed]) => speed) };
}
