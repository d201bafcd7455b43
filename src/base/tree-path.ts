/**
 * The one boundary between paths as this system writes them and paths in trees. Inside Holdfast, every path of a file
 * that is or may be backed up is a tree path: bytes that begin with `/`, with `/` between the names. On Linux and macOS
 * that is the system's own form. On Windows, `C:\Users\u` is `/C/Users/u`, and `\\server\share\x` is
 * `/UNC/server/share/x`.
 *
 * Text becomes a tree path by `treePath`. A tree path becomes text again by `pathText`, for people and for libraries that
 * take text, or by `fsPath`, for node:fs. Names and patterns are no paths: for them there is byte-path.ts.
 */
import {
  asByteString,
  bytesOfText,
  isAscii,
  isUtf8,
  textOfBytes,
  textWithBytes,
  type ByteString,
} from './byte-path.ts';

export interface PathStyle {
  /** The tree path of an absolute path. What has the form of a tree path already stays as it is. */
  toTree(path: string): ByteString;
  /** The path as the system writes it. What no drive has, like `/home/u` on Windows, keeps the form of a tree path. */
  written(path: ByteString): ByteString;
  /** The path for node:fs. */
  toCall(path: ByteString): string | Buffer;
  /** Whether it stands above all drives and shares: such a directory exists in trees alone. */
  isAboveDrives(path: ByteString): boolean;
}

export const POSIX_PATHS: PathStyle = {
  toTree: bytesOfText,
  written: (path) => path,
  toCall: (path) => (isAscii(path) ? path : Buffer.from(path, 'latin1')),
  isAboveDrives: () => false,
};

/** The beginnings of a path that say nothing but that the rest is to be taken literally. */
const LITERAL = /^[\\/]{2}[?.][\\/](?=[a-z]:|UNC[\\/])/i;
/** A path that no drive has must not be looked up on the drive in use. This begins one that is always absent. */
const NOWHERE = String.raw`\\?\no-such-drive`;

export const WINDOWS_PATHS: PathStyle = {
  toTree(path) {
    const plain = path.replace(LITERAL, '');
    const names = plain.split(/[\\/]+/).filter((name) => name !== '');
    const [first = '', ...below] = names;
    if (/^[a-z]:(?:[\\/]|$)/i.test(plain)) return treeOf([first.slice(0, 1).toUpperCase(), ...below]);
    const isShare = plain !== path || /^[\\/]{2}[^\\/]/.test(path);
    if (!isShare) return bytesOfText(path);
    const [server = '', share = '', ...rest] = plain === path ? names : below;
    return treeOf(['UNC', server.toLowerCase(), share.toLowerCase(), ...rest]);
  },
  written(path) {
    const root = rootOf(path);
    return root === undefined ? path : asByteString(`${root.written}${root.below.replaceAll('/', '\\')}`);
  },
  toCall(path) {
    const root = rootOf(path);
    if (root === undefined) return `${NOWHERE}${textOfBytes(path).replaceAll('/', '\\')}`;
    const written = WINDOWS_PATHS.written(path);
    if (isUtf8(path)) return textOfBytes(written);
    // Names of Windows need not be well-formed UTF-16. As text, such a name would become another one.
    const literal = written.replace(/^\\\\/, 'UNC\\');
    return Buffer.from(`\\\\?\\${literal}`, 'latin1');
  },
  isAboveDrives: (path) => /^\/(?:UNC(?:\/[^/]+)?)?$/.test(path),
};

function treeOf(names: readonly string[]): ByteString {
  const given = names.filter((name) => name !== '');
  return asByteString(`/${given.map(bytesOfText).join('/')}`);
}

/** The drive or share that a tree path begins with, as the system writes it, and what lies below. */
function rootOf(path: ByteString): { readonly written: string; readonly below: string } | undefined {
  const [, drive, onDrive = ''] = /^\/([A-Z])(?:\/(.*))?$/s.exec(path) ?? [];
  if (drive !== undefined) return { written: `${drive}:\\`, below: onDrive };
  const [, server, share, onShare = ''] = /^\/UNC\/([^/]+)\/([^/]+)(?:\/(.*))?$/s.exec(path) ?? [];
  if (server === undefined || share === undefined) return undefined;
  return { written: `\\\\${server}\\${share}\\`, below: onShare };
}

const HERE = process.platform === 'win32' ? WINDOWS_PATHS : POSIX_PATHS;

/** The tree path of an absolute path of this system. */
export function treePath(path: string): ByteString {
  return HERE.toTree(path);
}

/** A tree path as this system writes it, in bytes. */
export function writtenPath(path: ByteString): ByteString {
  return HERE.written(path);
}

/** A tree path as this system writes it, for people and for libraries that take text. */
export function pathText(path: ByteString): string {
  return textOfBytes(HERE.written(path));
}

/** A tree path as text from which `treePath` makes the same path, even where its bytes are not UTF-8. */
export function exactPathText(path: ByteString): string {
  return textWithBytes(HERE.written(path));
}

/** A tree path as node:fs accepts it: text where that says it all, otherwise the raw bytes. */
export function fsPath(path: ByteString): string | Buffer {
  return HERE.toCall(path);
}

export function isAboveDrives(path: ByteString): boolean {
  return HERE.isAboveDrives(path);
}
