/** Out of the studio: what the file menu offers besides saving. */

import { download, h } from "./dom";
import { request } from "./host";
import { tell, tellError } from "./toasts";
import type { View } from "./view";

/** Entries of the file menu. */
export function exportItems(view: View, video: () => void): HTMLElement[] {
  const item = (text: string, action: () => Promise<void>): HTMLElement =>
    h("button", { type: "button", onclick: () => void action().catch(tellError) }, text);
  const picture = (scale: number): HTMLElement =>
    item(`Save picture, ${scale} times as large`, async () =>
      download(`impulsar-${scale}x.png`, await view.picture(scale)),
    );
  return [
    picture(2),
    picture(4),
    item("Save motion (HTML, plays anywhere)", async () =>
      download("motion.html", await (await ask("api/motion.html")).blob()),
    ),
    h(
      "button",
      { type: "button", title: "Drawn anew, 60 pictures a second", onclick: video },
      "Save video of the recording…",
    ),
    item("Copy as Python: the model", () => copyPython("model.py")),
    item("Copy as Python: model, steps and edits", () => copyPython("session.py")),
  ];
}

/** A script from the session into the clipboard; where a browser has none (no TLS), into a file. */
async function copyPython(name: string): Promise<void> {
  const text = await (await ask(`api/${name}`)).text();
  try {
    await navigator.clipboard.writeText(text);
    tell(`${text.split("\n").length} lines of Python are in the clipboard`);
  } catch {
    download(name, new Blob([text], { type: "text/x-python" }));
    tell(`there is no clipboard here, so it was saved as ${name}`);
  }
}

/** What the server answers, or an error with its words. */
export async function ask(path: string, signal?: AbortSignal): Promise<Response> {
  const answer = await request(path, signal ? { signal } : {});
  if (!answer.ok) throw new Error(((await answer.json()) as { text: string }).text);
  return answer;
}
