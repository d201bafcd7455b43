/** Files of the agent's own state: what a dying disk or an older version may leave there. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asByteString } from '../../../src/base/byte-path.ts';
import { RequestError, StateError } from '../../../src/base/errors.ts';
import { openKeyCopies } from '../../../src/cache/key-copies.ts';
import { isDamagedCatalog, prepareCatalog } from '../../../src/catalog/tables/catalog-database.ts';
import { CatalogReader } from '../../../src/catalog/answers/catalog-reader.ts';
import { decodeNames, encodeNames, namesIn } from '../../../src/catalog/tables/name-block.ts';
import {
  createEnrollment,
  readEnrollment,
  type Enrollment,
} from '../../../src/enrollment/enrollment-file.ts';
import { recallWalk, rememberWalk, type WalkKey } from '../../../src/engine/walk-memory.ts';
import { openJournal } from '../../../src/jobs/journal.ts';
import { WriterState } from '../../../src/repository/writer-state.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture } from '../../unit/catalog/catalog-fixture.ts';
import { versionsOf } from '../../../src/catalog/answers/path-versions.ts';
import { changeJson, judged, need, parsed, requireEqual } from '../structured.ts';
import type { FuzzTarget, TargetTable } from '../target.ts';

const isStateError = (error: unknown): boolean => error instanceof StateError;

/** A directory that goes when the process does, unless something ends it. */
function workDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-fuzz-state-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A small file of JSON, which is read as the agent does. */
function jsonFile(
  files: readonly string[],
  prepare: (directory: string) => Promise<string>,
  read: (directory: string) => Promise<unknown>,
): () => Promise<FuzzTarget> {
  return async () => {
    const directory = workDirectory();
    const path = await prepare(directory);
    return {
      files,
      seeds: [readFileSync(path)],
      maxBytes: 70_000,
      words: ['{', '}', '"', 'null', '-1', '1e999', '__proto__'],
      change: changeJson,
      run: async (input) => {
        writeFileSync(path, input, { mode: 0o600 });
        try {
          return (await read(directory)) === undefined ? 'refused' : 'taken';
        } catch (error) {
          if (!isStateError(error)) throw error;
          return 'refused';
        }
      },
    };
  };
}

const ENROLLMENT: Enrollment = {
  address: 'https://partner.example',
  deviceId: `dev_${'0'.repeat(26)}`,
  customerId: `cus_${'0'.repeat(26)}`,
  name: "Ana's laptop",
  enrolledAt: 1_800_000_000_000,
  serviceKey: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43), kid: 'one' },
  deviceKey: `hfd_${'0'.repeat(36)}`,
  signedPlan: 'e30.e30.AAAA',
};
const LOCATION = 's3://bucket/a';

export const STATE: TargetTable<'state'> = {
  'writer-state': jsonFile(
    ['src/repository/writer-state.ts'],
    async (directory) => {
      const state = await WriterState.open(directory, 'id');
      await state.remember({ seq: 1, heads: { ['a'.repeat(32)]: { seq: 1, record: 'b'.repeat(64) } } });
      return join(directory, 'repositories', 'id.json');
    },
    async (directory) => {
      const state = await WriterState.open(directory, 'id');
      const { seq, ring, heads } = state.memory;
      need(seq >= 0 && ring >= 0, 'a number that no writer has');
      need(
        Object.values(heads).every((head) => Number.isInteger(head.seq) && typeof head.record === 'string'),
        'a head that is none',
      );
      state.requireNotOlder({ ring, config: Number.MAX_SAFE_INTEGER });
      return state.memory;
    },
  ),
  enrollment: jsonFile(
    ['src/enrollment/enrollment-file.ts'],
    async (directory) => {
      await createEnrollment(directory, ENROLLMENT);
      return join(directory, 'enrollment.json');
    },
    async (directory) => await readEnrollment(directory),
  ),
  'walk-memory': jsonFile(
    ['src/engine/walk-memory.ts'],
    async (directory) => {
      const key = walkKey(directory);
      await rememberWalk(key, { snapshot: 's', rules: 'r', hiddenRules: false });
      return join(directory, 'walks', String(readdirSync(join(directory, 'walks'))[0]));
    },
    async (directory) => await recallWalk(walkKey(directory)),
  ),
  'key-copies': jsonFile(
    ['src/cache/key-copies.ts'],
    async (directory) => {
      const listed = { key: 'keys/ring-1', size: 3, modifiedMs: 5 };
      openKeyCopies(directory, LOCATION).replace([{ listed, bytes: Buffer.from('abc') }], {
        complete: true,
        large: false,
      });
      return join(directory, 'cache', String(readdirSync(join(directory, 'cache'))[0]));
    },
    async (directory) => {
      const copies = openKeyCopies(directory, LOCATION);
      for (const listed of copies.known.listed) copies.read(listed);
      return await Promise.resolve(copies.known.listed.length > 0 ? copies : undefined);
    },
  ),
  journal: () => {
    const directory = workDirectory();
    const written = openJournal(directory);
    for (let job = 0; job < 3; job += 1) {
      const value = `${job}`.repeat(20);
      written.append({ kind: 'setting', key: `k${job}`, value });
    }
    written.close();
    const path = join(directory, '00000001.jnl');
    const seed = readFileSync(path);
    const lines = new Set(seed.toString('latin1').split('\n').filter(Boolean));
    return {
      files: ['src/jobs/journal.ts', 'src/jobs/journal-seal.ts'],
      seeds: [seed],
      maxBytes: 65_536,
      words: ['\n', '=', '\0'],
      run: (input) => {
        writeFileSync(path, input, { mode: 0o600 });
        return judged(
          parsed(() => openJournal(directory), isStateError),
          (journal) => {
            const sound = new Set(
              input
                .toString('latin1')
                .split('\n')
                .filter((line) => lines.has(line)),
            );
            need(journal.found.length >= sound.size, 'a sound line is lost');
            need(
              journal.found.every((record) => record.kind === 'setting' && record.value !== null),
              'a record that nobody wrote',
            );
            journal.close();
          },
        );
      },
    };
  },
  // The first byte is the number of names.
  'name-block': () => {
    const named = ['a', 'bc', ''].map((folded, node) => ({ node, directory: node, folded }));
    return {
      files: ['src/catalog/tables/name-block.ts'],
      seeds: [Buffer.concat([Buffer.of(named.length), encodeNames(named)])],
      maxBytes: 8_192,
      run: (input) =>
        judged(
          parsed(() => decodeNames(input.subarray(1), input[0] ?? 0), isStateError),
          (block) => {
            requireEqual(namesIn(block).length, input[0], 'the number of names');
          },
        ),
    };
  },
  'catalog-database': async () => {
    const directory = join(workDirectory(), 'catalog');
    mkdirSync(directory);
    const path = join(directory, 'c.db');
    return {
      files: ['src/catalog/tables/catalog-database.ts', 'src/catalog/answers/catalog-reader.ts'],
      seeds: [await catalogBytes()],
      maxBytes: 1_048_576,
      words: ['SELECT', 'TABLE', 'INDEX', '\0\0\0\0'],
      run: (input) => {
        for (const suffix of ['', '-wal', '-shm', '.damaged']) rmSync(path + suffix, { force: true });
        writeFileSync(path, input);
        return judged(
          parsed(
            () => askCatalog(path),
            (error) => error instanceof RequestError || isStateError(error) || isDamagedCatalog(error),
          ),
        );
      },
    };
  },
};

function walkKey(stateDirectory: string): WalkKey {
  return { stateDirectory, repositoryId: 'id', sources: [asByteString('/home')] };
}

/** A catalog of two snapshots with everything in one file. */
async function catalogBytes(): Promise<Buffer> {
  using fixture = await openFixture();
  await fixture.commit(directory({ a: file('one'), b: directory({ c: file('two'), 'd.txt': file('3') }) }));
  await fixture.commit(directory({ a: file('four'), b: directory({ c: file('two') }) }));
  await fixture.sync();
  fixture.database.pragma('wal_checkpoint(TRUNCATE)');
  return readFileSync(fixture.path);
}

/** What the page and the API ask of a catalog, each question once. */
function askCatalog(path: string): void {
  prepareCatalog(path);
  const reader = new CatalogReader(path);
  try {
    const found = reader.snapshots({ limit: 10 });
    reader.holdings();
    reader.files({ snapshot: 'latest', view: 'flat', sort: 'path', limit: 100 });
    versionsOf([reader.states('/a', undefined)], '/a');
    for (const { id } of found) reader.diff({ id, base: undefined, limit: 10, after: undefined });
  } finally {
    reader.close();
  }
}
