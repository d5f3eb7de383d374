import assert from "node:assert/strict";
import { test } from "node:test";
import { Typing } from "../src/typing";

/** A session that answers when it is told to. */
class Session {
  got: string[][] = [];
  private answers: ((problem?: string) => void)[] = [];

  apply = (texts: string[]): Promise<void> => {
    this.got.push(texts);
    return new Promise((resolve, reject) => {
      this.answers.push((problem) => (problem ? reject(new Error(problem)) : resolve()));
    });
  };

  async answer(problem?: string): Promise<void> {
    this.answers.shift()?.(problem);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

function row(...texts: string[]): { typing: Typing; session: Session; send: () => void } {
  const typing = new Typing();
  const session = new Session();
  typing.take(texts);
  return { typing, session, send: () => void typing.send(session.apply) };
}

test("the world's values are shown as they change", () => {
  const { typing } = row("1", "2");
  assert.deepEqual(typing.shown, ["1", "2"]);
  typing.take(["3", "2"]);
  assert.deepEqual(typing.shown, ["3", "2"]);
});

test("half a text stays while the world's values change, and only that", () => {
  const { typing } = row("1", "2");
  typing.focus = 0;
  typing.type(0, "1.");
  typing.take(["5", "6"]);
  assert.deepEqual(typing.shown, ["1.", "6"]);
  typing.forget();
  assert.deepEqual(typing.shown, ["5", "6"]);
});

test("Enter and leaving the input send once", async () => {
  const { typing, session, send } = row("1");
  typing.focus = 0;
  typing.type(0, "2");
  send();
  typing.focus = -1;
  send();
  await session.answer();
  send();
  assert.deepEqual(session.got, [["2"]]);
});

test("what is the world's already is not sent", () => {
  const { typing, session, send } = row("1");
  send();
  typing.type(0, "12");
  typing.type(0, "1");
  send();
  assert.deepEqual(session.got, []);
});

test("the world's way to write a number takes the place of the user's, whichever comes first", async () => {
  for (const isAnsweredFirst of [true, false]) {
    const { typing, session, send } = row("1");
    typing.focus = 0;
    typing.type(0, "1e-3");
    send();
    if (isAnsweredFirst) await session.answer();
    assert.deepEqual(typing.shown, ["1e-3"]); // no flash of the old value
    typing.take(["0.001"]);
    if (!isAnsweredFirst) await session.answer();
    assert.deepEqual(typing.shown, ["0.001"]);
    typing.focus = -1;
    send();
    assert.deepEqual(session.got, [["1e-3"]]);
  }
});

test("what is typed while an answer is awaited is kept and sent", async () => {
  const { typing, session, send } = row("1", "2");
  typing.focus = 0;
  typing.type(0, "5");
  send(); // by Tab
  typing.focus = 1;
  typing.type(1, "6");
  typing.take(["5", "2"]);
  await session.answer();
  assert.deepEqual(typing.shown, ["5", "6"]);
  send();
  assert.deepEqual(session.got, [
    ["5", "2"],
    ["5", "6"],
  ]);
});

test("a field that was left is not lost to the answer of the field before it", async () => {
  const { typing, session, send } = row("0", "0", "0");
  for (const k of [0, 1, 2]) {
    typing.focus = k;
    typing.type(k, String(k + 1));
    send();
    if (k === 1) typing.take(["1", "0", "0"]); // of the first
  }
  assert.deepEqual(session.got.at(-1), ["1", "2", "3"]);
  for (const texts of [
    ["1", "2", "0"],
    ["1", "2", "3"],
  ]) {
    typing.take(texts);
    await session.answer();
  }
  await session.answer();
  assert.deepEqual(typing.shown, ["1", "2", "3"]);
});

test("a refused text stays beside its reason until it is changed, forgotten or the world moves on", async () => {
  const { typing, session, send } = row("1");
  typing.focus = 0;
  typing.type(0, "heavy");
  send();
  await session.answer("mass: 'heavy' is not a number");
  assert.deepEqual([typing.shown, typing.problem], [["heavy"], "mass: 'heavy' is not a number"]);
  typing.focus = -1;
  send();
  assert.equal(session.got.length, 1); // the same text is not tried again
  typing.take(["1"]); // another part of the scene changed
  assert.deepEqual(typing.shown, ["heavy"]);
  typing.take(["3"]);
  assert.deepEqual([typing.shown, typing.problem], [["3"], null]);
});

test("after an undo the same text can be sent again", async () => {
  const { typing, session, send } = row("1");
  typing.type(0, "2");
  send();
  await session.answer();
  typing.take(["2"]);
  typing.take(["1"]);
  typing.type(0, "2");
  send();
  assert.deepEqual(session.got, [["2"], ["2"]]);
});

test("the old value typed back before the answer is sent too", async () => {
  const { typing, session, send } = row("1");
  typing.focus = 0;
  typing.type(0, "2");
  send();
  typing.type(0, "1");
  send();
  typing.take(["2"]);
  await session.answer();
  typing.take(["1"]);
  await session.answer();
  assert.deepEqual(session.got, [["2"], ["1"]]);
  assert.deepEqual(typing.shown, ["1"]);
});
