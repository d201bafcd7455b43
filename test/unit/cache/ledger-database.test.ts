/** What a machine with a write-only key notes, in a file that may be damaged. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { LedgerDatabase } from '../../../src/cache/ledger-database.ts';

let directory: string;
let path: string;
const [one, two] = [randomBytes(24), randomBytes(24)];
const contents = { [one.toString('hex')]: randomBytes(48), [two.toString('hex')]: randomBytes(48) };
const holes = [{ offset: 4_096, length: 8_192 }];
const pack = {
  name: randomBytes(32).toString('hex'),
  kind: 'data' as const,
  length: 5_000,
  ids: randomBytes(64),
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-ledger-'));
  path = join(directory, 'ledger.db');
  const ledger = new LedgerDatabase(path, systemClock);
  ledger.notePack(pack);
  for (const [file, ids] of Object.entries(contents))
    ledger.noteContent(Buffer.from(file, 'hex'), { ids, holes });
  ledger.close();
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Changes what stands there, as a disk does. */
function damage(change: string): void {
  const database = new Sqlite(path);
  database.exec(change);
  database.close();
}

function read(): { readonly packs: readonly unknown[]; readonly files: readonly unknown[] } {
  const ledger = new LedgerDatabase(path, systemClock);
  const found = { packs: [...ledger.packs()], files: [one, two].map((file) => ledger.content(file)) };
  ledger.close();
  return found;
}

test('it gives back what was noted', () => {
  expect(read()).toEqual({
    packs: [pack],
    files: Object.values(contents).map((ids) => ({ ids, holes })),
  });
});

test.each([
  ['ids of a file', `UPDATE files SET ids = randomblob(48)`],
  ['the contents of two files in each other’s place', `UPDATE files SET ids = (SELECT max(ids) FROM files)`],
  ['holes', `UPDATE files SET holes = x'', used = used + 1`],
])('a row with other %s is no note, and nothing is left of that ledger', (_what, change) => {
  damage(change);
  expect(read().files).toContain(undefined);
  expect(read()).toEqual({ packs: [], files: [undefined, undefined] });
});

test.each([
  ['ids', `UPDATE packs SET ids = randomblob(64)`],
  ['length', `UPDATE packs SET length = length + 1`],
  ['kind', `UPDATE packs SET kind = 3 - kind`],
])('a pack with another %s counts as unknown, and everything is stored again', (_what, change) => {
  damage(change);
  expect(read()).toEqual({ packs: [], files: [undefined, undefined] });
});
