/**
 * Time between pictures where the processor draws: it computes the motion too, and hears the user. As long as a picture
 * took, from its commands to its last pixel, none is drawn; several times as long where the browser's storage says so, as
 * that of tests does, whose pages and sessions share their processors.
 */

const LONGEST = 100; // [ms], on a machine that is busy with something else
const TIMES = "impulsar.rest"; // in the browser's storage: how many times as long as a picture

/** Is there no graphics processor? Then smooth edges cost more than they are worth. */
export function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

/** How many times as long as a picture took none is drawn here. */
export function restTimes(): number {
  return Number(localStorage.getItem(TIMES)) || 1;
}

export class Rest {
  private fence: WebGLSync | null = null;
  private began = 0; // the picture that is being drawn [ms]
  private end = 0; // before this time no other is [ms]

  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly times = 1,
  ) {}

  /** A picture has been ordered. */
  begin(now: number): void {
    this.began = now;
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }

  /** May the next be drawn? */
  isOver(now: number): boolean {
    if (this.fence) {
      const isDrawn = this.gl.getSyncParameter(this.fence, this.gl.SYNC_STATUS) === this.gl.SIGNALED;
      if (!isDrawn) return this.gl.isContextLost();
      this.gl.deleteSync(this.fence);
      this.fence = null;
      this.end = now + this.times * Math.min(now - this.began, LONGEST);
    }
    return now >= this.end;
  }
}
