/** The scenes to choose from: pictures that move under the pointer, what to try, parameters; new first, then recent. */

import "./gallery.css";
import { h } from "./dom";
import { largeCards } from "./large/opening";
import type { SceneEntry } from "./messages";
import { parseNumber, plain } from "./numbers";

const KEY = "impulsar.recent";
const MOST = 4; // recent ones
const LARGEST = 200_000; // characters of a file that is kept

/** A scene by its parameters, or a file by its text. */
interface Recent {
  name: string;
  parameters?: Record<string, unknown>;
  text?: string;
}

/** What was opened last, newest first. */
export function recent(): Recent[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? (kept as Recent[]).filter((one) => typeof one?.name === "string") : [];
  } catch {
    return [];
  }
}

function remember(one: Recent): void {
  const others = recent().filter((other) => JSON.stringify(other) !== JSON.stringify(one) && other.name !== one.name);
  try {
    localStorage.setItem(KEY, JSON.stringify([one, ...others].slice(0, MOST)));
  } catch {
    // no room or no leave: then there are no recent ones
  }
}

/** Keep a scene file that was opened, to open it again. */
export async function rememberFile(file: File): Promise<void> {
  if (file.size <= LARGEST) remember({ name: file.name, text: await file.text() });
}

/** Everything to choose from; `blank` comes first, `done` is called when something was opened. */
export function gallery(
  scenes: SceneEntry[],
  openScene: (name: string, parameters: Record<string, unknown>) => Promise<boolean>,
  blank: HTMLElement,
  openFile: (file: File) => Promise<void>,
  done: () => void,
): HTMLElement {
  const open = async (name: string, parameters: Record<string, unknown>): Promise<void> => {
    if (!(await openScene(name, parameters))) return;
    remember({ name, parameters });
    done();
  };
  const own = scenes.map((entry) => card(entry, open));
  const list = h("div", { class: "scenes gallery" }, blank, recents(open, openFile, done), ...own);
  return h("div", {}, list, largeCards(card));
}

function recents(
  open: (name: string, parameters: Record<string, unknown>) => Promise<void>,
  openFile: (file: File) => Promise<void>,
  done: () => void,
): HTMLElement | null {
  const kept = recent();
  if (!kept.length) return null;
  const again = (one: Recent): void => {
    if (one.text === undefined) void open(one.name, one.parameters ?? {});
    else void openFile(new File([one.text], one.name, { type: "application/json" })).then(done);
  };
  const told = ({ name, parameters }: Recent): string =>
    [name, ...Object.entries(parameters ?? {}).map(([key, value]) => `${key} = ${String(value)}`)].join(", ");
  return h(
    "div",
    { class: "recent", role: "group", "aria-label": "Recent" },
    h("span", { class: "muted" }, "Recent"),
    ...kept.map((one) => h("button", { type: "button", onclick: () => again(one) }, told(one))),
  );
}

/** A scene with its parameters, to be opened. */
export function card(
  entry: SceneEntry,
  open: (name: string, parameters: Record<string, unknown>) => Promise<void>,
  title = entry.name,
): HTMLFormElement {
  const fields = Object.entries(entry.parameters).map(([name, value]) => ({
    name,
    value,
    input: field(name, value, entry.choices[name]),
  }));
  const strip = h(
    "div",
    { class: entry.picture ? "strip" : "none", "aria-hidden": "true" },
    entry.picture ? null : "Open",
  );
  if (entry.picture) strip.style.backgroundImage = `url("api/scenes/${encodeURIComponent(entry.name)}.webp")`;
  const made = h(
    "form",
    { class: "card" },
    h("button", { type: "submit", class: "picture", "aria-label": `Open ${title}`, title: entry.description }, strip),
    h("strong", {}, entry.name),
    h("p", { class: "muted" }, entry.description),
    entry.invite ? h("p", { class: "invite" }, entry.invite) : null,
    h(
      "details",
      {},
      h("summary", {}, "Parameters"),
      h("div", { class: "parameters" }, ...fields.map(({ name, input }) => h("label", {}, name, input))),
      h("button", { type: "submit", class: "primary" }, "Open"),
    ),
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    const changed = fields
      .map(({ name, value, input }) => [name, read(input, value), value] as const)
      .filter(([, now, before]) => now !== before);
    void open(entry.name, Object.fromEntries(changed.map(([name, now]) => [name, now])));
  });
  return made;
}

function field(name: string, value: unknown, choices?: string[]): HTMLInputElement | HTMLSelectElement {
  if (choices)
    return h(
      "select",
      { name },
      ...choices.map((each) => h("option", { value: each, selected: each === value }, each)),
    );
  if (typeof value === "boolean") return h("input", { type: "checkbox", name, checked: value });
  return h("input", { name, value: value === null ? "" : String(value) });
}

function read(input: HTMLInputElement | HTMLSelectElement, before: unknown): unknown {
  if (input instanceof HTMLInputElement && typeof before === "boolean") return input.checked;
  const typed = typeof before === "number" ? parseNumber(input.value) : null;
  if (typed !== null) return plain(typed);
  return input.value === "" && before === null ? null : input.value;
}
