/** Test vectors of tree chunks: entries of every kind as the program has them in memory, and as they are stored. */

import { ascii, join, type Part } from './independent-primitives.ts';
import { hex } from './independent-objects.ts';
import {
  branch,
  bytesOfFields,
  idList,
  leaf,
  varint,
  type EntryParts,
  type Field,
} from './independent-writer.ts';
import { exampleBytes } from './worked-example.ts';

const id = (name: string): Buffer => exampleBytes(name, 24);

const common = {
  mode: 0o644,
  uid: 1_000,
  gid: 4_294_967_295,
  mtime: [1_700_000_000, 1] as const,
  ctime: [-2, 999_999_999] as const,
  inode: 2 ** 53 - 1,
};
/** The same for JSON, times in nanoseconds as text. */
const commonJson = {
  mode: 0o644,
  uid: 1_000,
  gid: 4_294_967_295,
  mtimeNs: '1700000000000000001',
  ctimeNs: '-1000000001',
  inode: 2 ** 53 - 1,
};

function entry(type: number, flags: number, name: Buffer, ...rest: readonly Field[]): EntryParts {
  return { ...common, type, flags, name, rest };
}

const field = (what: string, ...parts: readonly Part[]): Field => [what, join(...parts)];

/** In the order of their names' bytes; the last is not UTF-8. */
function everyKind(): { stored: EntryParts; json: Record<string, unknown> }[] {
  const xattrs = field(
    'xattrs',
    varint(2),
    varint(6),
    'user.a',
    varint(0),
    varint(6),
    'user.b',
    varint(3),
    'xyz',
  );
  const links = field('device, links', varint(66_306), varint(3));
  return [
    {
      stored: entry(6, 0, ascii('char'), field('major, minor', varint(4_095), varint(1_048_575))),
      json: { type: 'char-device', name: 'char', major: 4_095, minor: 1_048_575 },
    },
    {
      stored: entry(
        2,
        0,
        ascii('dir'),
        field('id', id('dir')),
        field('below', varint(3), varint(2 ** 40), varint(7)),
      ),
      json: {
        type: 'directory',
        name: 'dir',
        id: hex(id('dir')),
        totals: { files: 3, bytes: 2 ** 40, entries: 7 },
      },
    },
    {
      stored: entry(1, 0, ascii('empty'), field('size, no ids', 0, 0)),
      json: { type: 'file', name: 'empty', size: 0, content: '', indirect: false, changedWhileRead: false },
    },
    {
      stored: entry(4, 2, ascii('fifo'), links),
      json: { type: 'fifo', name: 'fifo', links: { device: 66_306, count: 3 } },
    },
    {
      stored: entry(
        1,
        1 + 2 + 4 + 8 + 16,
        ascii('file'),
        links,
        xattrs,
        field('size', varint(10_000_000_000)),
        field('holes', varint(2), varint(0), varint(65_536), varint(100), varint(9_000_000_000)),
        field('ids', varint(2), id('list 1'), id('list 2')),
      ),
      json: {
        type: 'file',
        name: 'file',
        links: { device: 66_306, count: 3 },
        xattrs: [
          { name: 'user.a', value: '' },
          { name: 'user.b', value: hex(ascii('xyz')) },
        ],
        size: 10_000_000_000,
        holes: [
          { offset: 0, length: 65_536 },
          { offset: 65_636, length: 9_000_000_000 },
        ],
        content: hex(join(id('list 1'), id('list 2'))),
        indirect: true,
        changedWhileRead: true,
      },
    },
    {
      stored: entry(3, 0, ascii('link'), field('target', varint(4), 'a/\xff\n')),
      json: { type: 'symlink', name: 'link', target: 'a/\xff\n' },
    },
    { stored: entry(5, 0, ascii('socket')), json: { type: 'socket', name: 'socket' } },
    {
      stored: entry(7, 0, ascii('\xff\x80'), field('major, minor', 8, 0)),
      json: { type: 'block-device', name: '\xff\x80', major: 8, minor: 0 },
    },
  ];
}

export function treeVectors() {
  const entries = everyKind();
  const children = ['a', 'm\xe9', 'z'].map((first) => ({ first: ascii(first), id: id(`child ${first}`) }));
  const ids = [id('chunk 1'), id('chunk 2'), id('chunk 1')];
  return {
    empty_leaf: hex(bytesOfFields(leaf([]))),
    leaf: {
      entries: entries.map(({ json }) => ({ ...commonJson, ...json })),
      bytes: hex(bytesOfFields(leaf(entries.map(({ stored }) => stored)))),
    },
    branch: {
      level: 2,
      children: children.map(({ first, id }) => ({ first: hex(first), id: hex(id) })),
      bytes: hex(branch(2, children)),
    },
    list: { ids: ids.map((one) => hex(one)), bytes: hex(idList(ids)) },
  };
}
