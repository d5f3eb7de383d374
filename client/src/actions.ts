/** Sending edits: refusals are shown, streams of edits never pile up. */

import type { Connection } from "./connection";
import type { Edit } from "./edits";
import type { Reply } from "./messages";
import { tell, tellError } from "./toasts";

export class Actions {
  constructor(
    readonly connection: Connection,
    private readonly done: (edit: Edit, reply: Reply) => void = () => {}, // is told of every edit that was made
  ) {}

  /** Apply an edit; who asked is told what refuses it. */
  async make(edit: Edit, isOneOfMany = false): Promise<Reply> {
    const reply = await this.connection.edit(edit);
    if (!isOneOfMany) this.done(edit, reply);
    return reply;
  }

  /** Apply an edit; a refusal is shown in the engine's words. Null: refused. */
  async apply(edit: Edit, isOneOfMany = false): Promise<Reply | null> {
    try {
      const reply = await this.make(edit, isOneOfMany);
      if (reply.warning) tell(reply.warning, "warning");
      return reply;
    } catch (error) {
      tellError(error);
      return null;
    }
  }

  async control(...request: Parameters<Connection["control"]>): Promise<Reply | null> {
    try {
      return await this.connection.control(...request);
    } catch (error) {
      tellError(error);
      return null;
    }
  }
}

/** A stream of edits of which only the newest matters: few are under way, the last one always arrives. */
export class Stream {
  private waiting: Edit | null = null;
  private underWay = 0;

  constructor(
    private readonly actions: Actions,
    private readonly most = 2,
    private readonly onIdle: () => void = () => {},
  ) {}

  /** Has everything been answered? */
  get isIdle(): boolean {
    return this.underWay === 0 && this.waiting === null;
  }

  send(edit: Edit): void {
    this.waiting = edit;
    this.pump();
  }

  /** Send what still waits, ahead of anything that is sent after this call. */
  flush(): void {
    if (!this.waiting) return;
    const edit = this.waiting;
    this.waiting = null;
    void this.actions.apply(edit);
  }

  private pump(): void {
    if (!this.waiting || this.underWay >= this.most) return;
    const edit = this.waiting;
    this.waiting = null;
    this.underWay += 1;
    void this.actions.apply(edit, true).then(() => {
      this.underWay -= 1;
      this.pump();
      if (this.isIdle) this.onIdle();
    });
  }
}
