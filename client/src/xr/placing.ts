/** Putting the world into the room: on what the headset sees (hit-test, a ring shows where), or by three touched points. */

import * as THREE from "three";
import type { Pointer } from "./pointers";

const POINTS = ["the world's origin", "a point along +x", "a point beside both, as level"] as const;

type Touched = [THREE.Vector3, THREE.Vector3, THREE.Vector3];

export class Placing {
  mode: "none" | "hit" | "points" = "none";
  readonly group = new THREE.Group();
  private readonly ring = new THREE.Mesh(
    new THREE.RingGeometry(0.05, 0.062, 40).rotateX(-Math.PI / 2),
    new THREE.MeshBasicMaterial({ color: 0xffffff, side: THREE.DoubleSide }),
  );
  private readonly marks = new THREE.Group();
  private sources = new Map<XRInputSource | null, XRHitTestSource | null>(); // null: of the viewer; or not there yet
  private hits = new Map<XRInputSource | null, THREE.Vector3>();
  private touched: THREE.Vector3[] = [];

  constructor(private readonly session: XRSession) {
    this.ring.visible = false;
    this.group.add(this.ring, this.marks);
  }

  /** Can what is in the room be met? */
  get canHit(): boolean {
    return this.session.enabledFeatures?.includes("hit-test") ?? this.session.requestHitTestSource !== undefined;
  }

  begin(mode: Placing["mode"]): void {
    this.mode = mode;
    this.touched = [];
    this.marks.clear();
    this.ring.visible = false;
    if (mode !== "hit") this.forget();
  }

  /** What is to be done next, in words. */
  get told(): string {
    if (this.mode === "hit")
      return this.ring.visible ? "Select: place it on the ring" : "Point at a table or the floor";
    if (this.mode === "points") return `Touch ${POINTS[this.touched.length] ?? ""}; select`;
    return "";
  }

  /** Look where pointers aim; the ring is where the first of them does that meets something. */
  update(frame: XRFrame, room: XRReferenceSpace, pointers: Pointer[]): void {
    if (this.mode !== "hit") return;
    const aims = pointers.filter(({ source }) => source.targetRayMode === "tracked-pointer");
    for (const { source } of aims) this.want(source, source.targetRaySpace);
    this.want(null, null);
    this.hits.clear();
    for (const [of, source] of this.sources) {
      const pose = source && frame.getHitTestResults(source)[0]?.getPose(room);
      if (pose) this.hits.set(of, new THREE.Vector3().copy(pose.transform.position));
    }
    const shown = aims.map(({ source }) => this.hits.get(source)).find((hit) => hit) ?? this.hits.get(null);
    this.ring.visible = shown !== undefined;
    if (shown) this.ring.position.copy(shown);
  }

  /** Where a pointer's select puts it; null where it points at nothing. */
  hit(pointer: Pointer): THREE.Vector3 | null {
    return this.hits.get(pointer.source) ?? this.hits.get(null) ?? null;
  }

  /** A point is touched: all three once there are so many. */
  touch(point: THREE.Vector3): Touched | null {
    this.touched.push(point.clone());
    const mark = new THREE.Mesh(
      new THREE.SphereGeometry(0.008, 12, 8),
      new THREE.MeshBasicMaterial({ color: [0xffffff, 0xe0403a, 0x40c060][this.touched.length - 1] ?? 0xffffff }),
    );
    mark.position.copy(point);
    this.marks.add(mark);
    return this.touched.length === 3 ? (this.touched as Touched) : null;
  }

  private want(of: XRInputSource | null, space: XRSpace | null): void {
    if (this.sources.has(of)) return;
    this.sources.set(of, null);
    const asked = space ? Promise.resolve(space) : this.session.requestReferenceSpace("viewer");
    asked
      .then((found) => this.session.requestHitTestSource?.({ space: found }))
      .then((source) => {
        if (source && this.mode === "hit" && this.sources.has(of)) this.sources.set(of, source);
        else source?.cancel();
      })
      .catch(() => {}); // a session that ended, or a space without hits: nothing is met
  }

  private forget(): void {
    for (const source of this.sources.values()) source?.cancel();
    this.sources.clear();
    this.hits.clear();
  }
}
