/** Tells from the first bytes of a file whether its content looks encrypted: as good as random, and of no known format. */

/** So much of a file is looked at. */
export const HEAD_BYTES = 4_096;
/** Fewer bytes say nothing: text in some scripts is as varied. */
const LEAST_BYTES = 128;

/**
 * The first bytes of formats whose content is as good as random because it is compressed, in Latin-1, with their offset.
 * Backups of other programs and encrypted folders have none, but do not begin to look so from one day to the next.
 */
const FORMATS: readonly (readonly [offset: number, bytes: string])[] = [
  [0, '\u00ff\u00d8\u00ff'],
  [0, '\u0089PNG'],
  [0, 'GIF8'],
  [0, 'RIFF'],
  [4, 'ftyp'],
  [4, 'moov'],
  [4, 'mdat'],
  [0, 'II*\0'],
  [0, 'MM\0*'],
  [0, '\0\0\0\u000cjP  '],
  [0, '\u00ff\u004f\u00ff\u0051'],
  [0, '%PDF'],
  [0, '%!PS'],
  [0, 'PK\u0003\u0004'],
  [0, 'PK\u0005\u0006'],
  [0, '\u001f\u008b'],
  [0, '\u001f\u009d'],
  [0, 'BZh'],
  [0, '\u00fd7zXZ\0'],
  [0, '7z\u00bc\u00af'],
  [0, 'Rar!'],
  [0, '\u0028\u00b5\u002f\u00fd'],
  [0, '\u0004"M\u0018'],
  [0, 'LZIP'],
  [0, 'MSCF'],
  [0, 'xar!'],
  [0, 'wOF'],
  [0, 'ID3'],
  [0, 'OggS'],
  [0, 'fLaC'],
  [0, '\u001aE\u00df\u00a3'],
  [0, '0&\u00b2u'],
  [0, 'FLV'],
  [0, '\u00d0\u00cf\u0011\u00e0'],
  [0, 'SQLite format 3'],
  [0, 'hsqs'],
  [0, 'PACK'],
];

/** MPEG audio, and zlib streams such as the objects of git, begin with bits of which not all are the same. */
function isMarked(head: Buffer): boolean {
  const [first = 0, second = 0] = head;
  if (first === 0xff && (second & 0xe0) === 0xe0) return true;
  return (first & 0x0f) === 8 && first <= 0x78 && ((first << 8) | second) % 31 === 0 && (second & 0x20) === 0;
}

/** Undefined when there are too few bytes to tell. @param head the beginning of a file, `HEAD_BYTES` where it is longer */
export function looksEncrypted(head: Buffer): boolean | undefined {
  if (head.length < LEAST_BYTES) return undefined;
  const text = head.subarray(0, 16).toString('latin1');
  if (isMarked(head) || FORMATS.some(([offset, bytes]) => text.startsWith(bytes, offset))) return false;
  return entropy(head) >= randomEntropy(head.length) - Math.max(0.05, 80 / head.length);
}

/** In bits for each byte. */
function entropy(bytes: Buffer): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / bytes.length) * Math.log2(count / bytes.length);
  return bits;
}

const expected = new Map<number, number>();

/** The entropy that so many random bytes have on average, which is less than 8 bits as they are few. */
function randomEntropy(length: number): number {
  const known = expected.get(length);
  if (known !== undefined) return known;
  // The number of times that one value occurs has a binomial distribution.
  let probability = (255 / 256) ** length;
  let sum = 0;
  for (let count = 1; count <= Math.min(length, 200); count += 1) {
    probability *= (length - count + 1) / count / 255;
    sum += probability * count * Math.log2(count);
  }
  const bits = Math.log2(length) - (256 * sum) / length;
  expected.set(length, bits);
  return bits;
}
