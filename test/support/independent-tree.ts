/** Tree chunks as docs/repository-format.md, section 6, has them; nothing here comes from src/. */

export interface TreeEntry {
  readonly type: number;
  readonly name: Buffer;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly inode: bigint;
  readonly device: bigint | undefined;
  readonly links: bigint | undefined;
  readonly xattrs: readonly { readonly name: Buffer; readonly value: Buffer }[];
  readonly changed: boolean;
  /** Files. */
  readonly size: number;
  readonly holes: readonly { readonly gap: number; readonly length: number }[];
  readonly content: readonly Buffer[];
  readonly indirect: boolean;
  /** Directories. */
  readonly directory: Buffer | undefined;
  /** Symbolic links. */
  readonly target: Buffer | undefined;
  /** Devices. */
  readonly major: number;
  readonly minor: number;
}

export type TreeChunk =
  | { readonly form: 0; readonly entries: readonly TreeEntry[] }
  | {
      readonly form: 1;
      readonly level: number;
      readonly children: readonly { readonly first: Buffer; readonly id: Buffer }[];
    }
  | { readonly form: 2; readonly ids: readonly Buffer[] };

export function readTreeChunk(bytes: Buffer): TreeChunk {
  const at = new Cursor(bytes);
  if (at.u8() !== 1) throw new Error('tree version');
  const form = at.u8();
  const chunk: TreeChunk | undefined =
    form === 0
      ? { form, entries: at.times(at.number(), () => readEntry(at)) }
      : form === 1
        ? {
            form,
            level: at.u8(),
            children: at.times(at.number(), () => ({ first: at.text(), id: at.raw(24) })),
          }
        : form === 2
          ? { form, ids: at.times(at.number(), () => at.raw(24)) }
          : undefined;
  if (chunk === undefined || !at.done) throw new Error('form or end of a tree chunk');
  return chunk;
}

function readEntry(at: Cursor): TreeEntry {
  const type = at.u8();
  const flags = at.number();
  const has = (flag: number): boolean => (flags & flag) !== 0;
  if (type < 1 || type > 7 || flags > (type === 1 ? 31 : 3)) throw new Error('type or flags');
  const name = at.text();
  const [mode, uid, gid] = [at.number(), at.number(), at.number()];
  const [mtimeNs, ctimeNs, inode] = [at.time(), at.time(), at.varint()];
  const [device, links] = has(2) ? [at.varint(), at.varint()] : [];
  const xattrs = has(1) ? at.times(at.number(), () => ({ name: at.text(), value: at.text() })) : [];
  const size = type === 1 ? at.number() : 0;
  const holes = has(4) ? at.times(at.number(), () => ({ gap: at.number(), length: at.number() })) : [];
  const content = type === 1 ? at.times(at.number(), () => at.raw(24)) : [];
  const directory = type === 2 ? at.raw(24) : undefined;
  // Files, bytes and entries below: for listings only.
  if (type === 2) at.times(3, () => at.varint());
  const target = type === 3 ? at.text() : undefined;
  const [major, minor] = type === 6 || type === 7 ? [at.number(), at.number()] : [0, 0];
  const metadata = { type, name, mode, uid, gid, mtimeNs, ctimeNs, inode, device, links, xattrs };
  const own = { size, holes, content, indirect: has(8), changed: has(16), directory, target, major, minor };
  return { ...metadata, ...own };
}

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  u8(): number {
    this.#at += 1;
    return this.#bytes.readUInt8(this.#at - 1);
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  number(): number {
    return Number(this.varint());
  }

  time(): bigint {
    const zigzag = this.varint();
    const seconds = (zigzag >> 1n) ^ -(zigzag & 1n);
    return seconds * 1_000_000_000n + this.varint();
  }

  raw(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error('end of a tree chunk');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): Buffer {
    return this.raw(this.number());
  }

  times<T>(count: number, read: () => T): T[] {
    const items: T[] = [];
    for (let i = 0; i < count; i += 1) items.push(read());
    return items;
  }
}
