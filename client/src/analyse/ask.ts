/** Asking the studio for analyses. */

import type { AnalysisReply, AnalysisRequest, SweepPoint, SweepRequest } from "../messages";

async function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body), ...(signal ? { signal } : {}) });
  if (!answer.ok) throw new Error(((await answer.json()) as { text: string }).text);
  return answer;
}

export async function analyse(
  request: Partial<AnalysisRequest> & Pick<AnalysisRequest, "kind">,
): Promise<AnalysisReply> {
  return (await (await post("api/analyse", request)).json()) as AnalysisReply;
}

/** Points of a sweep as they are found; aborting the signal ends it in the studio, too. */
export async function* sweep(request: SweepRequest, signal: AbortSignal): AsyncGenerator<SweepPoint> {
  const answer = await post("api/sweep", request, signal);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as SweepPoint;
  }
}
