/** Paths in snapshots: text, and bytes if they are not UTF-8. Whatever asks for a path passes both on. */
import { shellWord } from '../../agent/program.ts';

export interface PathRef {
  /** Lossy where there is a `path_b64`. */
  readonly path: string;
  readonly path_b64: string | null;
}

export interface Crumb extends PathRef {
  readonly name: string;
}

const SLASH = 0x2f;

export const ROOT: PathRef = { path: '/', path_b64: null };

export function textRef(path: string): PathRef {
  return { path, path_b64: null };
}

/** The query parameter for the path. */
export function pathQuery({ path, path_b64: bytes }: PathRef): Readonly<Record<string, string>> {
  return bytes === null ? { path } : { path_b64: bytes };
}

/** The path for `POST /restore`. */
export function requestPath({ path, path_b64: bytes }: PathRef): string | { readonly path_b64: string } {
  return bytes === null ? path : { path_b64: bytes };
}

/** A key that is different for each path. */
export function keyOf({ path, path_b64: bytes }: PathRef): string {
  return bytes === null ? `t${path}` : `b${bytes}`;
}

/** The path for a base64 text; undefined when the text is invalid. */
export function refOfB64(text: string): PathRef | undefined {
  try {
    return refOfBytes(bytesOfB64(text));
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

function bytesOf({ path, path_b64: bytes }: PathRef): Uint8Array {
  return bytes === null ? new TextEncoder().encode(path) : bytesOfB64(bytes);
}

/** The path with one character for each byte. */
export function byteText(ref: PathRef): string {
  return Array.from(bytesOf(ref), (byte) => String.fromCharCode(byte)).join('');
}

/** The root, the directories above, and the path itself. */
export function crumbsOf(ref: PathRef): readonly Crumb[] {
  const bytes = bytesOf(ref);
  const crumbs: Crumb[] = [{ ...ROOT, name: '/' }];
  for (let start = 0; start < bytes.length;) {
    const slash = bytes.indexOf(SLASH, start);
    const end = slash === -1 ? bytes.length : slash;
    if (end > start)
      crumbs.push({ ...refOfBytes(bytes.subarray(0, end)), name: lossy(bytes.subarray(start, end)) });
    start = end + 1;
  }
  return crumbs;
}

/** The directory above; for the root, the root. */
export function parentOf(ref: PathRef): PathRef {
  const { path, path_b64: bytes } = crumbsOf(ref).at(-2) ?? ROOT;
  return { path, path_b64: bytes };
}

export function nameOf(ref: PathRef): string {
  return crumbsOf(ref).at(-1)?.name ?? '/';
}

/** The path as a shell word. Bytes that are not UTF-8 are written as escapes, which bash and zsh understand. */
export function shellPath(ref: PathRef): string {
  if (ref.path_b64 === null) return shellWord(ref.path);
  const shown = Array.from(bytesOf(ref), (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return `$'${shown.join('')}'`;
}

function refOfBytes(bytes: Uint8Array): PathRef {
  try {
    const path = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { path, path_b64: null };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return {
      path: lossy(bytes),
      path_b64: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')),
    };
  }
}

function lossy(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function bytesOfB64(text: string): Uint8Array {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0));
}

/** The directory at which the source begins. If its text does not give the exact path, the root. */
export function beginningOf({ source }: { readonly source: string }): PathRef {
  return source.startsWith('/') && !source.includes('\u{FFFD}') && !source.includes(', /')
    ? textRef(source)
    : ROOT;
}
