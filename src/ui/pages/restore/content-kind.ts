/** Tells the kind of a file by its bytes, as its name may say anything. */

export const IMAGE_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

export type ContentKind =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly type: ImageType }
  | { readonly kind: 'other' };

/** Bytes that are enough to tell the kind. */
export const HEAD_BYTES = 64;

/** Only pictures that cannot contain a script are taken for pictures. SVG files are text. */
export function kindOf(bytes: Uint8Array, isWhole: boolean): ContentKind {
  const type = imageType(bytes);
  if (type !== undefined) return { kind: 'image', type };
  const text = textOf(bytes, isWhole);
  return text === undefined ? { kind: 'other' } : { kind: 'text', text };
}

/** The text of bytes that are UTF-8; undefined when they are not. The last character may be cut off unless it is `isWhole`. */
export function textOf(bytes: Uint8Array, isWhole: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function imageType(bytes: Uint8Array): ImageType | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, HEAD_BYTES));
  if (head.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (head.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF[\s\S]{4}WEBP/.test(head)) return 'image/webp';
  if (/^[\s\S]{4}ftypavi[fs]/.test(head)) return 'image/avif';
  return isBitmap(bytes) ? 'image/bmp' : undefined;
}

/** Texts may begin with the same two letters, so the size of the following header decides. */
const BITMAP_HEADERS = new Set([12, 40, 52, 56, 64, 108, 124]);

function isBitmap(bytes: Uint8Array): boolean {
  if (bytes.length < 18 || bytes[0] !== 0x42 || bytes[1] !== 0x4d) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint32(6, true) === 0 && BITMAP_HEADERS.has(view.getUint32(14, true));
}
