/** Pictures of a lake under a hill, each of another day, as PNG: for whoever needs one that a browser shows. */
import { deflateSync } from 'node:zlib';
import { encoded } from './indexed-picture.ts';

const WIDTH = 480;
const HEIGHT = 320;
type Colour = readonly [number, number, number];

/** `day`: any number; the light and the hills are different for each. */
export function lakePicture(day: number): Buffer {
  const rows = Buffer.alloc(HEIGHT * (1 + WIDTH * 3));
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      rows.set(colourAt(x / WIDTH, y / HEIGHT, day), y * (1 + WIDTH * 3) + 1 + x * 3);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  // 8 bits for each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  return encoded([
    ['IHDR', header],
    ['IDAT', deflateSync(rows)],
    ['IEND', Buffer.alloc(0)],
  ]);
}

function colourAt(x: number, y: number, day: number): Colour {
  const ridge = 0.36 + 0.1 * Math.sin(x * 5 + day) + 0.04 * Math.sin(x * 17 + day * 2);
  const shore = 0.62;
  const warmth = 30 * Math.sin(day);
  const sky = (at: number): Colour => [150 + 90 * at + warmth, 180 + 60 * at, 225 - warmth / 2];
  if (y < ridge) return shaded(sky(y));
  if (y < shore) return shaded([70 + 60 * (y - ridge), 95 + 120 * (y - ridge), 85]);
  const ripple = 12 * Math.sin(y * 180 + 3 * Math.sin(x * 30 + day));
  const [red, green, blue] = sky(shore - (y - shore));
  return shaded([red * 0.55 + ripple, green * 0.62 + ripple, blue * 0.75 + ripple]);
}

function shaded([red, green, blue]: Colour): Colour {
  const level = (value: number): number => Math.max(0, Math.min(255, Math.round(value / 4) * 4));
  return [level(red), level(green), level(blue)];
}
