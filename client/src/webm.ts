/**
 * A WebM file of encoded pictures (Matroska, RFC 9559): a header, one video track, clusters of a second or so, each
 * from a key frame on. Times are in units of 0.1 ms, which 60 pictures a second are true to.
 */

export interface Picture {
  data: Uint8Array;
  time: number; // [s]
  isKey: boolean;
}

const UNIT = 1e-4; // [s]
const LONGEST = 3; // of a cluster, where no key frame comes [s]

/** An element: its id, the length of what is in it, and that. */
function element(id: number, ...parts: Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return join([number(id), size(length), ...parts]);
}

function join(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

/** A whole number in as few bytes as it takes, the highest first. */
function number(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0 || bytes.length === 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.from(bytes);
}

/** A length in eight bytes, the first of which says so. */
function size(length: number): Uint8Array {
  const bytes = [...number(length)];
  return Uint8Array.from([1, ...new Array<number>(7 - bytes.length).fill(0), ...bytes]);
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function real(value: number): Uint8Array {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setFloat64(0, value);
  return out;
}

function block(picture: Picture, start: number): Uint8Array {
  const head = new Uint8Array(4);
  head[0] = 0x81; // of track 1
  new DataView(head.buffer).setInt16(1, Math.round((picture.time - start) / UNIT));
  head[3] = picture.isKey ? 0x80 : 0;
  return element(0xa3, head, picture.data);
}

/** A number in eight bytes, whatever it is. */
function fixed(value: number): Uint8Array {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(value));
  return out;
}

/**
 * The file as it grows: pictures in, each cluster handed to the browser as soon as it is whole, which keeps it where it
 * likes. What players need to go to a time stands in front, and is known at the end.
 */
export class Webm {
  private readonly clusters: { part: Blob; bytes: number; time: number }[] = [];
  private open: Picture[] = [];

  /** `codec` is "V_VP8" or "V_VP9". */
  constructor(
    private readonly codec: string,
    private readonly width: number,
    private readonly height: number,
  ) {}

  /** The next picture; the first one is a key frame. */
  add(picture: Picture): void {
    const first = this.open[0];
    if (first && (picture.isKey || picture.time - first.time >= LONGEST)) this.close();
    this.open.push(picture);
  }

  /** The whole, of a duration [s]. */
  finish(duration: number): Blob {
    this.close();
    const head = element(
      0x1a45dfa3,
      element(0x4286, number(1)),
      element(0x42f7, number(1)),
      element(0x42f2, number(4)),
      element(0x42f3, number(8)),
      element(0x4282, text("webm")),
      element(0x4287, number(4)),
      element(0x4285, number(2)),
    );
    const about = join([this.info(duration), this.track()]);
    let at = about.length + this.cues(0).length; // in the segment
    const cues = this.cues(at);
    for (const { bytes } of this.clusters) at += bytes;
    const front = join([head, number(0x18538067), size(at), about, cues]);
    return new Blob([front as Uint8Array<ArrayBuffer>, ...this.clusters.map(({ part }) => part)], {
      type: "video/webm",
    });
  }

  private close(): void {
    const first = this.open[0];
    if (!first) return;
    const blocks = this.open.map((picture) => block(picture, first.time));
    const time = Math.round(first.time / UNIT);
    const cluster = element(0x1f43b675, element(0xe7, number(time)), ...blocks);
    this.clusters.push({ part: new Blob([cluster as Uint8Array<ArrayBuffer>]), bytes: cluster.length, time });
    this.open = [];
  }

  private info(duration: number): Uint8Array {
    return element(
      0x1549a966,
      element(0x2ad7b1, number(Math.round(UNIT * 1e9))),
      element(0x4489, real(duration / UNIT)),
      element(0x4d80, text("Impulsar")),
      element(0x5741, text("Impulsar")),
    );
  }

  private track(): Uint8Array {
    const video = element(0xe0, element(0xb0, number(this.width)), element(0xba, number(this.height)));
    const entry = element(
      0xae,
      element(0xd7, number(1)),
      element(0x73c5, number(1)),
      element(0x83, number(1)),
      element(0x86, text(this.codec)),
      video,
    );
    return element(0x1654ae6b, entry);
  }

  /** Where clusters are, the first of them at a place in the segment; as long wherever that is. */
  private cues(first: number): Uint8Array {
    let at = first;
    const points = this.clusters.map(({ bytes, time }) => {
      const place = element(0xb7, element(0xf7, number(1)), element(0xf1, fixed(at)));
      at += bytes;
      return element(0xbb, element(0xb3, fixed(time)), place);
    });
    return element(0x1c53bb6b, ...points);
  }
}
