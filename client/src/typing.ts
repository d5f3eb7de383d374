/** The texts in the inputs of a row: the world's values, or what a user types over them until it is sent and answered. */

export class Typing {
  focus = -1; // input that is being typed in
  problem: string | null = null; // why the last text was refused
  private texts: string[] = []; // the world's
  private typed: (string | null)[] = []; // instead of the world's
  private sent: string | null = null; // Enter and leaving the input are one change
  private underWay = 0;
  private isBehind = false; // the world's values changed while something was under way

  /** What stands in the inputs. */
  get shown(): string[] {
    return this.texts.map((text, k) => this.typed[k] ?? text);
  }

  /** The world has these values. */
  take(texts: string[]): void {
    if (texts.length === this.texts.length && texts.join("\n") === this.texts.join("\n")) return;
    this.texts = texts;
    this.catchUp();
  }

  /** A user typed in an input. */
  type(k: number, text: string): void {
    this.typed[k] = this.sent === null && text === this.texts[k] ? null : text;
  }

  /** Back to the world's values. */
  forget(): void {
    this.typed = [];
    this.sent = this.problem = null;
  }

  /** Send what stands there, unless it is the world's or was sent before. */
  async send(apply: (texts: string[]) => Promise<unknown>): Promise<void> {
    const { shown } = this;
    const said = shown.join("\n");
    if (said === (this.sent ?? this.texts.join("\n"))) return;
    this.sent = said;
    this.underWay += 1;
    try {
      await apply(shown);
      this.problem = null;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.underWay -= 1;
    if (this.isBehind && this.problem === null) this.catchUp();
  }

  /** Show the world's values, but for a text that is being typed; what is under way is answered first. */
  private catchUp(): void {
    this.isBehind = this.underWay > 0;
    if (this.isBehind) return;
    const isSent = this.shown.join("\n") === this.sent;
    this.typed = this.texts.map((_, k) => (k === this.focus && !isSent ? (this.typed[k] ?? null) : null));
    this.sent = null;
    if (this.typed.every((text) => text === null)) this.problem = null;
  }
}
