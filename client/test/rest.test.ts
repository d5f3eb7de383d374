import assert from "node:assert/strict";
import { test } from "node:test";
import { Rest } from "../src/rest";

/** What draws, as far as a rest asks it: each picture is done so long after it was ordered [ms]. */
class Drawer {
  now = 0;
  readonly SIGNALED = 1;
  readonly SYNC_STATUS = 2;
  readonly SYNC_GPU_COMMANDS_COMPLETE = 3;
  isLost = false;
  private done = 0;

  constructor(readonly takes: number) {}

  fenceSync(): object {
    this.done = this.now + this.takes;
    return {};
  }

  getSyncParameter(): number {
    return this.now >= this.done && !this.isLost ? this.SIGNALED : 0;
  }

  isContextLost(): boolean {
    return this.isLost;
  }

  flush(): void {}
  deleteSync(): void {}
}

/** Times at which pictures begin within a second, where the screen asks for one every so many milliseconds. */
function pictures(drawer: Drawer, every: number, times = 1): number[] {
  const rest = new Rest(drawer as unknown as WebGL2RenderingContext, times);
  const begun: number[] = [];
  for (drawer.now = 0; drawer.now < 1000; drawer.now += every) {
    if (!rest.isOver(drawer.now)) continue;
    begun.push(drawer.now);
    rest.begin(drawer.now);
  }
  return begun;
}

test("a picture is followed by as long a rest as it took", () => {
  assert.deepEqual(pictures(new Drawer(40), 10).slice(0, 4), [0, 80, 160, 240]);
});

test("a rest is longer by as much as it was told", () => {
  assert.deepEqual(pictures(new Drawer(40), 10, 3).slice(0, 4), [0, 160, 320, 480]);
});

test("a rest is no longer than a tenth of a second", () => {
  assert.deepEqual(pictures(new Drawer(300), 10).slice(0, 3), [0, 400, 800]);
});

test("of a context that is lost nothing is waited for", () => {
  const drawer = new Drawer(40);
  drawer.isLost = true;
  assert.equal(pictures(drawer, 100).length, 10);
});
