/** The table of mounts as `mount` prints it on macOS: one in a line, as in `/dev/disk3s1s1 on / (apfs, sealed, local)`. */
import { asByteString, type ByteString } from '../base/byte-path.ts';

const LINE = /^.+? on (\/.*) \(([^(),]+)(?:, [^()]*)?\)$/;

/** The mount of one line; undefined for any other line. */
export function macMount(line: string): { readonly path: ByteString; readonly type: string } | undefined {
  const [, path, type] = LINE.exec(line) ?? [];
  return path === undefined || type === undefined ? undefined : { path: asByteString(path), type };
}
