/**
 * The repository of docs/repository-format.md, section 9: one directory, one file of 12 bytes, one symbolic link. Every
 * secret, salt and nonce is the beginning of SHA-256("example " || its name), so the bytes are always the same.
 * As a script it prints the section's dump: `node test/support/worked-example.ts`.
 */

import { hex, type Keys } from './independent-objects.ts';
import { ascii, cbor, expand, join, publicOf, sha256, uncbor } from './independent-primitives.ts';
import {
  argon2id,
  bytesOfFields,
  chainContext,
  chunkId,
  indexContent,
  keyringBytes,
  leaf,
  pack,
  packKey,
  ringFile,
  sealedObject,
  signed,
  slotFile,
  svarint,
  varint,
  type EntryParts,
  type Field,
} from './independent-writer.ts';

export const EXAMPLE_PASSPHRASE = 'correct horse battery staple';
const COST = { m: 64, t: 1, p: 1 };
/** 2023-11-14T22:13:20Z. */
const SECONDS = 1_700_000_000;

export function exampleBytes(name: string, length = 32): Buffer {
  return sha256(ascii(`example ${name}`)).subarray(0, length);
}

/** One object, and the plaintexts of its parts where they are worth reading. */
export interface ExampleObject {
  readonly key: string;
  readonly fields: readonly Field[];
  readonly opened: readonly { readonly what: string; readonly fields: readonly Field[] }[];
}

export const exampleBytesOf = (object: ExampleObject): Buffer => bytesOfFields(object.fields);

/** The fields of a CBOR map, its first byte apart. */
function cborFields(map: Buffer): Field[] {
  const entries = Object.entries(uncbor(map));
  const fields = entries.map(([name, value]): Field => [name, join(cbor(name), cbor(value))]);
  return [
    [`map of ${entries.length}`, map.subarray(0, map.length - bytesOfFields(fields).length)],
    ...fields,
  ];
}

export const EXAMPLE_REPO = exampleBytes('repository', 16);
const admin = exampleBytes('admin');

export const EXAMPLE_KEYS: Keys = {
  repo: EXAMPLE_REPO,
  idData: exampleBytes('id data'),
  idTree: exampleBytes('id tree'),
  idPlain: exampleBytes('id plain'),
  adminPublic: publicOf('Ed25519', admin),
  generations: new Map([[1, exampleBytes('generation 1')]]),
};

function keyFiles(): ExampleObject[] {
  const slot = exampleBytes('slot', 16);
  const slotPrivate = exampleBytes('slot private');
  const ringAuth = exampleBytes('ring authentication');
  const salt = exampleBytes('passphrase salt');
  const file = slotFile({
    repo: EXAMPLE_REPO,
    slot,
    kind: 1,
    kdf: { ...COST, salt },
    label: 'passphrase',
    created: SECONDS * 1_000,
    nonce: exampleBytes('slot nonce', 12),
    secret: argon2id(EXAMPLE_PASSPHRASE, salt, COST),
    private: slotPrivate,
    ringAuth,
  });
  const slotPublic = publicOf('X25519', slotPrivate);
  const keyring = cbor({
    repo: EXAMPLE_REPO,
    id_data: EXAMPLE_KEYS.idData,
    id_tree: EXAMPLE_KEYS.idTree,
    id_plain: EXAMPLE_KEYS.idPlain,
    cdc: exampleBytes('cdc'),
    admin,
    admin_public: EXAMPLE_KEYS.adminPublic,
    gens: [{ g: 1, key: exampleBytes('generation 1'), state: 'current' }],
    min_format: 1,
    slots: [{ slot, public: slotPublic, kind: 1, label: 'passphrase', file: sha256(file) }],
  });
  const ring = ringFile(EXAMPLE_REPO, 1, keyringBytes(uncbor(keyring)), ringAuth, [
    { slot, public: slotPublic, ephemeral: exampleBytes('ephemeral'), nonce: exampleBytes('ring nonce', 12) },
  ]);
  const padding = 1_024 - 4 - keyring.length;
  return [
    {
      key: `keys/${hex(slot)}`,
      fields: cborFields(file),
      opened: [
        {
          what: 'ct opened',
          fields: [
            ['X25519 private key', slotPrivate],
            ['ring authentication key', ringAuth],
          ],
        },
      ],
    },
    {
      key: 'keys/ring-1',
      fields: cborFields(ring),
      opened: [
        {
          what: `ct opened: the keyring; ${padding} zero bytes follow`,
          fields: [['length', keyringBytes(uncbor(keyring)).subarray(0, 4)], ...cborFields(keyring)],
        },
      ],
    },
  ];
}

function sealed(
  key: string,
  type: number,
  context: readonly Field[],
  plaintext: readonly Field[],
): ExampleObject {
  const salt = exampleBytes(`salt of type ${type}`);
  const fields = sealedObject(type, salt, context, bytesOfFields(plaintext), EXAMPLE_KEYS);
  const name = hex(sha256(bytesOfFields(fields)));
  return { key: key.replace('*', name), fields, opened: [{ what: 'part 0 opened', fields: plaintext }] };
}

/** All objects, in the order in which a writer stores them. */
export function workedExample(): ExampleObject[] {
  const [slotObject, ringObject] = keyFiles();
  if (slotObject === undefined || ringObject === undefined) throw new Error('no key files');
  const config = signed(
    {
      v: 1,
      n: 1,
      repo: EXAMPLE_REPO,
      min_format: 1,
      created: SECONDS * 1_000,
      chunker: { min: 262_144, avg: 1_048_576, max: 4_194_304 },
      pack_target: 33_554_432,
      segment_target: 2_097_152,
      grace: 259_200,
    },
    'hf1/config',
    EXAMPLE_REPO,
    admin,
  );
  const n: Field = ['n', Buffer.from('0000000000000001', 'hex')];

  const content = ascii('hello world\n');
  const data = pack(
    1,
    1,
    exampleBytes('salt of type 1'),
    [{ chunks: [content] }],
    EXAMPLE_KEYS.idData,
    EXAMPLE_KEYS,
  );
  const common = { flags: 0, uid: 1_000, gid: 1_000, ctime: [SECONDS, 500_000_000] as const };
  const file: EntryParts = {
    ...common,
    type: 1,
    name: ascii('f'),
    mode: 0o644,
    mtime: [SECONDS, 123_456_789],
    inode: 12,
    rest: [
      ['size', varint(content.length)],
      ['chunks, ids', join(varint(1), chunkId(EXAMPLE_KEYS.idData, content))],
    ],
  };
  const link: EntryParts = {
    ...common,
    type: 3,
    name: ascii('l'),
    mode: 0o777,
    mtime: [-1, 0],
    inode: 13,
    rest: [['target', join(varint(1), 'f')]],
  };
  const below = leaf([file, link]);
  const directory: EntryParts = {
    ...common,
    type: 2,
    name: ascii('d'),
    mode: 0o755,
    mtime: [SECONDS, 0],
    inode: 11,
    rest: [
      ['id', chunkId(EXAMPLE_KEYS.idTree, bytesOfFields(below))],
      ['files, bytes, entries', join(varint(1), varint(content.length), varint(2))],
    ],
  };
  const root = leaf([directory]);
  const chunks = [bytesOfFields(below), bytesOfFields(root)];
  const trees = pack(2, 1, exampleBytes('salt of type 2'), [{ chunks }], EXAMPLE_KEYS.idTree, EXAMPLE_KEYS);

  const rootId = chunkId(EXAMPLE_KEYS.idTree, bytesOfFields(root));
  const record = cbor({
    v: 1,
    tool: 'example',
    host: 'host',
    user: 'user',
    paths: [ascii('/d')],
    started: SECONDS * 1_000,
    finished: SECONDS * 1_000 + 1_500,
    root: rootId,
    plain: false,
    tags: [],
    pinned: false,
    status: 'complete',
    errors: [],
    errors_more: 0,
    counts: {
      files: 1,
      directories: 1,
      links: 1,
      others: 0,
      bytes: content.length,
      new: 1,
      changed: 0,
      unchanged: 0,
      failed: 0,
    },
    owners: { users: { '1000': 'user' }, groups: { '1000': 'users' } },
    omitted: [],
    kind: 'files',
  });
  const writer = exampleBytes('writer', 16);
  const position = chainContext(writer, 1, Buffer.alloc(32));
  const snapshot = sealed('snapshots/*', 5, position, cborFields(record));
  const head = cbor({ v: 1, record: sha256(exampleBytesOf(snapshot)), live: 1 });
  return [
    sealed('config/1', 6, [n], cborFields(config)),
    ringObject,
    slotObject,
    {
      key: packKey(data.name),
      fields: data.fields,
      opened: [
        { what: 'segment 0 opened', fields: [['chunk 0', content]] },
        { what: 'directory opened', fields: data.directory },
      ],
    },
    {
      key: packKey(trees.name),
      fields: trees.fields,
      opened: [
        { what: 'segment 0 opened, chunk 0: the directory d', fields: below },
        { what: 'segment 0 opened, chunk 1: the root', fields: root },
        { what: 'directory opened', fields: trees.directory },
      ],
    },
    sealed('index/*', 4, [], [['form', Buffer.of(0)], ...indexContent([], [data, trees])]),
    snapshot,
    sealed(`heads/${hex(writer)}/0000000000000001`, 7, position, cborFields(head)),
  ];
}

/** Keys that the repository derives on the way, for whoever is stuck in the middle. */
function intermediateValues(): Field[] {
  const salt = exampleBytes('passphrase salt');
  const root = exampleBytes('generation 1');
  return [
    ['Argon2id of the passphrase', argon2id(EXAMPLE_PASSPHRASE, salt, COST)],
    ['K[pack]', expand(root, ascii('hf1/key/pack'), 32)],
    ['K[snap]', expand(root, ascii('hf1/key/snap'), 32)],
    ['svarint of -1', svarint(-1)],
  ];
}

const BYTES_A_LINE = 32;

function dump(fields: readonly Field[]): string[] {
  let offset = 0;
  const width = Math.max(...fields.map(([what]) => what.length));
  return fields.flatMap(([what, bytes]) => {
    const lines: string[] = [];
    for (let at = 0; at === 0 || at < bytes.length; at += BYTES_A_LINE) {
      const label = (at === 0 ? what : '').padEnd(width);
      lines.push(
        `${String(offset + at).padStart(5)}  ${label}  ${hex(bytes.subarray(at, at + BYTES_A_LINE))}`,
      );
    }
    offset += bytes.length;
    return lines;
  });
}

/** The dump of section 9, as Markdown. */
export function renderExample(): string {
  const blocks = workedExample().map((object) => {
    const opened = object.opened.flatMap(({ what, fields }) => ['', `-- ${what}`, ...dump(fields)]);
    const size = exampleBytesOf(object).length;
    return [
      `**\`${object.key}\`** (${size} bytes)`,
      '',
      '```',
      ...dump(object.fields),
      ...opened,
      '```',
    ].join('\n');
  });
  const values = [
    'On the way:',
    '',
    '```',
    ...dump(intermediateValues()).map((line) => line.slice(7)),
    '```',
  ];
  return [...blocks, values.join('\n')].join('\n\n');
}

if (import.meta.main) process.stdout.write(`${renderExample()}\n`);
