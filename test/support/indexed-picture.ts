/** Makes a picture of a screen smaller: a palette of the 256 colours that are most of it, in place of three bytes for each point. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const MOST_COLOURS = 256;

/** `png`: 8 bits for each of red, green and blue, as browsers make it. */
export function indexedPicture(png: Buffer): Buffer {
  const { width, height, size, rows } = decoded(png);
  const counts = new Map<number, number>();
  const points = new Uint32Array(width * height);
  for (let at = 0; at < points.length; at += 1) {
    const colour = rows.readUIntBE(at * size, 3);
    points[at] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST_COLOURS)
    .map(([colour]) => colour);
  const places = new Map(palette.map((colour, index) => [colour, index]));
  const placeOf = (colour: number): number => {
    const known = places.get(colour);
    if (known !== undefined) return known;
    const found = nearest(palette, colour);
    places.set(colour, found);
    return found;
  };
  const lines = Buffer.alloc(height * (width + 1));
  for (let at = 0; at < points.length; at += 1)
    lines[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = placeOf(points[at] ?? 0);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return encoded([
    ['IHDR', header],
    ['PLTE', Buffer.from(palette.flatMap((colour) => parts(colour)))],
    ['IDAT', deflateSync(lines, { level: 9, memLevel: 9 })],
    ['IEND', Buffer.alloc(0)],
  ]);
}

/** The file of these pieces. */
export function encoded(pieces: readonly (readonly [type: string, data: Buffer])[]): Buffer {
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = pieces.map(([type, data]) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  });
  return Buffer.concat([signature, ...chunks]);
}

function parts(colour: number): readonly [number, number, number] {
  return [(colour >> 16) & 0xff, (colour >> 8) & 0xff, colour & 0xff];
}

function nearest(palette: readonly number[], colour: number): number {
  const [red, green, blue] = parts(colour);
  let [best, least] = [0, Infinity];
  for (const [index, one] of palette.entries()) {
    const [r, g, b] = parts(one);
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

interface Decoded {
  readonly width: number;
  readonly height: number;
  /** Bytes of a point: 3, or 4 with its transparency. */
  readonly size: number;
  /** One after the other, unfiltered. */
  readonly rows: Buffer;
}

function decoded(png: Buffer): Decoded {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const size = png[25] === 6 ? 4 : 3;
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
  }
  const filtered = inflateSync(Buffer.concat(data));
  const stride = width * size;
  const rows = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y += 1) {
    const filter = filtered[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const left = x < size ? 0 : (rows[y * stride + x - size] ?? 0);
      const up = y === 0 ? 0 : (rows[(y - 1) * stride + x] ?? 0);
      const corner = x < size || y === 0 ? 0 : (rows[(y - 1) * stride + x - size] ?? 0);
      const raw = filtered[y * (stride + 1) + 1 + x] ?? 0;
      rows[y * stride + x] = (raw + predicted(filter, left, up, corner)) & 0xff;
    }
  }
  return { width, height, size, rows };
}

/** By the five filters of PNG. */
function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const estimate = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(estimate - value));
  if ((a ?? 0) <= (b ?? 0) && (a ?? 0) <= (c ?? 0)) return left;
  return (b ?? 0) <= (c ?? 0) ? up : corner;
}
