/** The whole world in hand: one squeeze carries and turns it, two squeezes or pinches scale it, too. */

import * as THREE from "three";
import { carried, type Handle, type Placed, stretched } from "./placement";
import type { Pointer } from "./pointers";

export class Whole {
  private grips = new Map<Pointer, Handle>(); // where they were when it was taken
  private taken: Placed | null = null;

  /** Which pointers have it from now on: it is taken anew where they are. */
  take(pointers: Pointer[], placed: Placed): void {
    const same = pointers.length === this.grips.size && pointers.every((pointer) => this.grips.has(pointer));
    if (same) return;
    this.grips = new Map(pointers.slice(0, 2).map((pointer) => [pointer, handleOf(pointer)]));
    this.taken = { p: placed.p.clone(), q: placed.q.clone(), scale: placed.scale };
  }

  /** Where it is carried; null where nobody has it. */
  carried(): Placed | null {
    const [a, b] = [...this.grips];
    if (!a || !this.taken) return null;
    if (!b) return carried(this.taken, a[1], handleOf(a[0]));
    return stretched(this.taken, [a[1].p, b[1].p], [handleOf(a[0]).p, handleOf(b[0]).p]);
  }
}

function handleOf({ grip }: Pointer): Handle {
  return { p: new THREE.Vector3().setFromMatrixPosition(grip), q: new THREE.Quaternion().setFromRotationMatrix(grip) };
}
