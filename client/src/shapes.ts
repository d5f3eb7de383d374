/** Meshes of bodies. */

import * as THREE from "three";
import type { Body, Joint, Shape, Spring } from "./messages";

const ROUND = 24;

/** Geometry of a shape in its own frame. */
function geometryOf(shape: Shape): THREE.BufferGeometry {
  const radius = shape.radius ?? 0;
  const length = shape.length ?? 0;
  switch (shape.kind) {
    case "box":
      return new THREE.BoxGeometry(...(shape.size as [number, number, number]));
    case "sphere":
      return new THREE.SphereGeometry(radius, ROUND, ROUND / 2);
    case "cylinder":
      return new THREE.CylinderGeometry(radius, radius, length, ROUND).rotateX(Math.PI / 2);
    case "capsule":
      return new THREE.CapsuleGeometry(radius, length, 6, ROUND).rotateX(Math.PI / 2);
    case "hull": {
      const corners = (shape.triangles ?? []).flat().flatMap((corner) => shape.points?.[corner] ?? []);
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners, 3));
      geometry.computeVertexNormals();
      return geometry;
    }
  }
}

/** A thin bar between two points, along which a body without shape is drawn. */
export function bar(a: THREE.Vector3, b: THREE.Vector3, radius: number): THREE.BufferGeometry {
  const along = new THREE.Vector3().subVectors(b, a);
  const geometry = new THREE.CylinderGeometry(radius, radius, along.length(), 10).rotateX(Math.PI / 2);
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.clone().normalize());
  return geometry.applyQuaternion(turn).translate((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2);
}

/** Where joints and springs hold on to a body, in its frame. */
export function holds(body: string, joints: Joint[], springs: Spring[]): THREE.Vector3[] {
  const found: number[][] = [];
  for (const joint of joints) {
    if (joint.first === body) found.push(joint.p_PF);
    if (joint.second === body) found.push(joint.p_CM);
  }
  for (const spring of springs) {
    if (spring.first === body) found.push(spring.at_first);
    if (spring.second === body) found.push(spring.at_second);
  }
  return found.map((p) => new THREE.Vector3(p[0], p[1], p[2]));
}

/** A body as a group whose frame is the body's; without shapes it is bars from its centre to what holds it. */
export function bodyObject(
  body: Body,
  anchors: THREE.Vector3[],
  material: THREE.Material,
  edges: THREE.Material,
  size: number,
): THREE.Group {
  const group = new THREE.Group();
  const add = (geometry: THREE.BufferGeometry): THREE.Mesh => {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.userData.part = { kind: "body", name: body.name };
    group.add(mesh);
    return mesh;
  };
  for (const shape of body.shapes) {
    const geometry = geometryOf(shape);
    const mesh = add(geometry);
    mesh.position.fromArray(shape.offset);
    mesh.quaternion.fromArray(shape.orientation);
    if (shape.kind === "box" || shape.kind === "hull" || shape.kind === "cylinder") {
      mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 30), edges));
    }
  }
  if (body.shapes.length === 0) {
    const centre = new THREE.Vector3();
    add(new THREE.SphereGeometry(0.02 * size, ROUND, ROUND / 2));
    for (const anchor of anchors) if (anchor.length() > 1e-6 * size) add(bar(centre, anchor, 0.008 * size));
  }
  return group;
}

/** The usual mark of a centre of mass: a ball of four dark and four light eighths. */
export function centreMark(radius: number): THREE.Group {
  const group = new THREE.Group();
  const dark = new THREE.MeshBasicMaterial({ color: 0x15181d, depthTest: false, transparent: true });
  const light = new THREE.MeshBasicMaterial({ color: 0xffffff, depthTest: false, transparent: true });
  for (let k = 0; k < 8; k++) {
    const upper = k >= 4;
    const geometry = new THREE.SphereGeometry(
      radius,
      6,
      4,
      (k % 4) * (Math.PI / 2),
      Math.PI / 2,
      upper ? Math.PI / 2 : 0,
      Math.PI / 2,
    );
    const mesh = new THREE.Mesh(geometry, (k % 2 === 0) === upper ? dark : light);
    mesh.renderOrder = 4;
    group.add(mesh);
  }
  return group;
}
