/** Asking the studio for analyses. */

import { request } from "../host";
import type { AnalysisReply, AnalysisRequest, CurveDesign, CurveRequest, SweepPoint, SweepRequest } from "../messages";

async function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const answer = await request(path, { method: "POST", body: JSON.stringify(body), ...(signal ? { signal } : {}) });
  if (!answer.ok) throw new Error(((await answer.json()) as { text: string }).text);
  return answer;
}

export async function analyse(
  request: Partial<AnalysisRequest> & Pick<AnalysisRequest, "kind">,
): Promise<AnalysisReply> {
  return (await (await post("api/analyse", request)).json()) as AnalysisReply;
}

/** Points of a sweep as they are found; aborting the signal ends it in the studio, too. */
export function sweep(request: SweepRequest, signal: AbortSignal): AsyncGenerator<SweepPoint> {
  return lines<SweepPoint>("api/sweep", request, signal);
}

/** Better and better linkages for a curve; likewise. */
export function fitCurve(request: CurveRequest, signal: AbortSignal): AsyncGenerator<CurveDesign> {
  return lines<CurveDesign>("api/curve", request, signal);
}

async function* lines<Line>(path: string, request: unknown, signal: AbortSignal): AsyncGenerator<Line> {
  const answer = await post(path, request, signal);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader) {
    const { value, done } = await reader.read();
    if (done) return;
    const found = (rest + value).split("\n");
    rest = found.pop() ?? "";
    for (const line of found) yield JSON.parse(line) as Line;
  }
}
