/** The manipulators' icons (Wang 2011 fig. 3): arrow of a force, arc of a torque, sphere of a motion. */

import * as THREE from "three";

const Z = new THREE.Vector3(0, 0, 1);
const ROUND = 18;

function onTop(material: THREE.Material): THREE.Material {
  material.depthTest = false;
  material.transparent = true;
  return material;
}

/** Materials of a manipulator: plain, and pale for one that is switched off. */
export class IconColours {
  readonly solid = onTop(new THREE.MeshLambertMaterial()) as THREE.MeshLambertMaterial;
  readonly line = onTop(new THREE.LineBasicMaterial()) as THREE.LineBasicMaterial;

  set(colour: string): void {
    this.solid.color.set(colour);
    this.solid.emissive.set(colour);
    this.solid.emissiveIntensity = 0.35;
    this.line.color.set(colour);
  }

  set off(off: boolean) {
    this.solid.opacity = this.line.opacity = off ? 0.35 : 1;
  }
}

function mesh(geometry: THREE.BufferGeometry, colours: IconColours): THREE.Mesh {
  const found = new THREE.Mesh(geometry, colours.solid);
  found.renderOrder = 6;
  return found;
}

export class Arrow {
  readonly group = new THREE.Group();
  private shaft: THREE.Mesh;
  private head: THREE.Mesh;

  constructor(colours: IconColours) {
    this.shaft = mesh(new THREE.CylinderGeometry(1, 1, 1, ROUND).rotateX(Math.PI / 2), colours);
    this.head = mesh(new THREE.ConeGeometry(1, 1, ROUND).rotateX(Math.PI / 2), colours);
    this.group.add(this.shaft, this.head);
  }

  /** From tail to head, `r` thick. */
  set(tail: THREE.Vector3, head: THREE.Vector3, r: number): void {
    const along = head.clone().sub(tail);
    const length = along.length();
    this.group.visible = length > 0;
    if (length === 0) return;
    const tip = Math.min(5 * r, 0.6 * length);
    this.group.position.copy(tail);
    this.group.quaternion.setFromUnitVectors(Z, along.divideScalar(length));
    this.shaft.scale.set(r, r, length - tip);
    this.shaft.position.z = (length - tip) / 2;
    this.head.scale.set(2.4 * r, 2.4 * r, tip);
    this.head.position.z = length - tip / 2;
  }
}

const SWEEP = (300 / 180) * Math.PI;

export class Arc {
  readonly group = new THREE.Group();
  private ring: THREE.Mesh;
  private head: THREE.Mesh;
  private axis: THREE.Line;
  private shape = { radius: 0, r: 0 };

  constructor(private readonly colours: IconColours) {
    this.ring = mesh(new THREE.BufferGeometry(), colours);
    this.head = mesh(new THREE.ConeGeometry(1, 1, ROUND), colours);
    this.axis = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), Z]), colours.line);
    this.axis.renderOrder = 6;
    this.group.add(this.ring, this.head, this.axis);
  }

  /** About `axis` (unit) through `centre`; the arc begins at `start` (unit, across the axis). */
  set(
    centre: THREE.Vector3,
    axis: THREE.Vector3,
    start: THREE.Vector3,
    radius: number,
    r: number,
    reach: number,
  ): void {
    this.group.visible = radius > 0;
    if (radius <= 0) return;
    if (Math.abs(this.shape.radius - radius) > 1e-3 * radius || this.shape.r !== r) {
      this.ring.geometry.dispose();
      this.ring.geometry = new THREE.TorusGeometry(radius, Math.min(r, 0.3 * radius), 8, 48, SWEEP);
      this.shape = { radius, r };
    }
    const other = axis.clone().cross(start);
    this.group.position.copy(centre);
    this.group.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(start, other, axis));
    const tip = Math.min(5 * r, 0.8 * radius);
    this.head.scale.set(2.4 * Math.min(r, 0.3 * radius), tip, 2.4 * Math.min(r, 0.3 * radius));
    this.head.position.set(radius * Math.cos(SWEEP), radius * Math.sin(SWEEP), 0);
    this.head.rotation.z = SWEEP;
    this.axis.scale.setScalar(reach);
    this.axis.material = this.colours.line;
  }
}

/** A ball to take hold of. */
export function handleBall(colours: IconColours): THREE.Mesh {
  return mesh(new THREE.SphereGeometry(1, ROUND, ROUND / 2), colours);
}

/** A line of up to 64 points that can be laid anew. */
export function path(colours: IconColours): THREE.Line {
  const line = new THREE.Line(new THREE.BufferGeometry(), colours.line);
  line.renderOrder = 6;
  line.frustumCulled = false;
  return line;
}

/** A unit vector across `axis`, near `wish`. */
export function across(axis: THREE.Vector3, wish: THREE.Vector3): THREE.Vector3 {
  const found = wish.clone().addScaledVector(axis, -wish.dot(axis));
  if (found.lengthSq() < 1e-8) found.set(1, 0, 0).addScaledVector(axis, -axis.x);
  if (found.lengthSq() < 1e-8) found.set(0, 1, 0).addScaledVector(axis, -axis.y);
  return found.normalize();
}
