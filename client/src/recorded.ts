/** What the session has recorded, read at every step, however many of them a frame of the page spanned. */

import { request } from "./host";
import type { Reply, SeriesRequest } from "./messages";

/** Rows of numbers: a time [s], the signals, and x, y, z of the points. */
export interface Recorded {
  columns: number; // of a row, the time among them
  data: Float64Array;
}

let last: Promise<unknown> = Promise.resolve(); // the server makes few at once

/** Signals and points at every step of the recording, from a time on. */
export function fetchSeries(request: Required<SeriesRequest>): Promise<Recorded> {
  const next = last.then(() => read(request));
  last = next.catch(() => {});
  return next;
}

async function read(wanted: Required<SeriesRequest>): Promise<Recorded> {
  const columns = 1 + wanted.signals.length + 3 * wanted.points.length;
  const answer = await request("api/series", {
    method: "POST",
    body: JSON.stringify(wanted),
    headers: { "Content-Type": "application/json" },
  });
  if (!answer.ok) throw new Error(((await answer.json()) as Reply).text);
  return { columns, data: new Float64Array(await answer.arrayBuffer()) };
}
