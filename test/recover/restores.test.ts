/** Everything that the program stores comes back by recover.py: fixtures, the torture tree, every way of storing. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { jsonLines, obeyingModes, openPlace, PASSPHRASE, type Place } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { FIXTURES, fixtureFacts, unpackFixture } from '../support/fixture-repositories.ts';
import { removeTree } from '../support/remove-tree.ts';
import { makeTortureTree } from '../support/torture-tree.ts';
import { entriesOnDisk, manifestOf } from '../support/tree-manifest.ts';
import { openRecoverProgram, type RecoverProgram } from './program.ts';
import { namesBelow } from '../support/names-below.ts';

const found = await startOrSkip(openRecoverProgram);
if ('missing' in found) test.skip(`recover.py was not tested: ${found.missing}`, () => {});
else {
  describe.each(FIXTURES)('recover.py and the fixture %s', (name) => fixtureTests(found.server, name));
  describe('recover.py and what the program stored just now', () => freshTests(found.server));
}

const root = process.getuid?.() === 0;

function fixtureTests(program: RecoverProgram, name: string): void {
  const facts = fixtureFacts(name);
  let home: string;
  let store: string;
  let passphrase: string;

  beforeAll(() => {
    home = mkdtempSync(path.join(tmpdir(), 'holdfast-recover-'));
    store = path.join(home, 'store');
    passphrase = path.join(home, 'passphrase');
    unpackFixture(name, store);
    writeFileSync(passphrase, `${facts.passphrase}\n`);
  });
  afterAll(() => {
    removeTree(home);
  });

  it('lists the snapshots by every secret, and not the forgotten ones', async () => {
    const code = path.join(home, 'code');
    writeFileSync(code, facts.recovery_code.toLowerCase());
    const secrets = [
      ['--secret-file', passphrase],
      ['--secret-file', code],
    ];
    if (facts.machine_key !== undefined) {
      const machine = path.join(home, 'machine');
      writeFileSync(machine, `${facts.machine_key}\n`);
      secrets.push(['--machine-key-file', machine]);
    }
    const wanted = Object.values(facts.snapshots).map(({ id }) => id.slice(0, 16));
    for (const secret of secrets) {
      const { code: status, stdout, stderr } = await program.run([store, ...secret, 'list']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.slice(0, 16))
          .sort(),
      ).toEqual(wanted.toSorted());
    }
    const all = await program.run([store, ...(secrets[1] ?? []), '--forgotten', 'list']);
    for (const id of facts.forgotten) expect(all.stdout).toContain(id.slice(0, 16));
  });

  it.skipIf(facts.removed === undefined)('is not opened by secrets that were removed', async () => {
    const file = path.join(home, 'removed');
    writeFileSync(file, facts.removed?.passphrase ?? '');
    const byPassphrase = await program.run([store, '--secret-file', file, 'list']);
    writeFileSync(file, facts.removed?.recovery_code ?? '');
    const byCode = await program.run([store, '--secret-file', file, 'list']);

    expect([byPassphrase.code, byCode.code]).toEqual([2, 2]);
    expect(byPassphrase.stderr + byCode.stderr).not.toContain('Traceback');
  });

  it.skipIf(name !== 'format-2')('lists them by the second copies of keys and configuration', async () => {
    const copy = path.join(home, 'without keys');
    // What a write-only key stored is told by the time at which it was stored.
    cpSync(store, copy, { recursive: true, preserveTimestamps: true });
    for (const top of ['keys', 'config']) rmSync(path.join(copy, top), { recursive: true });
    const listed = [store, copy].map(
      async (repository) => await program.run([repository, '--secret-file', passphrase, 'list']),
    );
    const [before, after] = await Promise.all(listed);

    expect(before).toMatchObject({ code: 0, stderr: '' });
    expect(after).toMatchObject({ code: 1, stdout: before?.stdout });
    expect(after?.stderr).toContain('keys/ring-5: No such file or directory (passed over)');
  });

  it.each(
    Object.entries(facts.snapshots).flatMap(([kind, facts]) =>
      [true, false].map((indexed) => ({ kind, indexed, ...facts })),
    ),
  )(
    'restores «$kind» (with index objects: $indexed)',
    async ({ kind, indexed, id, source, entries, crowds }) => {
      const copy = path.join(home, `store-${kind}-${indexed}`);
      unpackFixture(name, copy);
      if (!indexed) rmSync(path.join(copy, 'index'), { recursive: true });
      const target = path.join(home, `target-${kind}-${indexed}`);
      const { code, stderr } = await program.run([
        copy,
        '--secret-file',
        passphrase,
        'restore',
        id.slice(0, 8),
        target,
      ]);
      const below = path.join(target, source);
      const restored = entriesOnDisk(bytesOfText(below)).map((entry) => ({
        ...entry,
        path: source + entry.path.slice(Buffer.byteLength(below)),
      }));

      expect(stderr).not.toContain('MISSING');
      if (!root) return;
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(manifestOf(restored)).toEqual({ entries, crowds });
      expect(readdirSync(target).filter((top) => top.startsWith('.recover'))).toEqual([]);
    },
  );
}

function freshTests(program: RecoverProgram): void {
  let passphrase: string;
  let home: string;

  beforeAll(() => {
    home = mkdtempSync(path.join(tmpdir(), 'holdfast-recover-'));
    passphrase = path.join(home, 'passphrase');
    writeFileSync(passphrase, PASSPHRASE);
  });
  afterAll(() => {
    removeTree(home);
  });

  const recover = async (place: Place, words: readonly string[]) =>
    await program.run([place.repository, '--secret-file', passphrase, '--any-cost', ...words]);

  /** What the restored tree of the source has that the source has not, and the other way round. */
  const differences = (place: Place, target: string): string[] =>
    compareTrees(place.source, path.join(target, place.source)).map(shownDifference);

  it.each([
    { how: 'as usual', words: [] },
    { how: 'plain', words: ['--no-encryption'] },
    { how: 'without deduplication', words: ['--no-deduplication'] },
    {
      how: 'plain, without deduplication, uncompressed',
      words: ['--no-encryption', '--no-deduplication', '--compression', 'none'],
    },
  ])('restores the torture tree, stored $how', async ({ words }) => {
    await using place = await openPlace();
    const report = await makeTortureTree(place.source, { without: ['many'] });
    await place.expectRun(['init']);
    await place.expectRun(['backup', ...words, place.source], root ? 0 : 3);
    const target = path.join(place.directory, 'target');
    const { code, stderr } = await recover(place, ['restore', 'latest', target]);

    expect(report.made.length).toBeGreaterThan(100);
    expect(stderr).not.toContain('MISSING');
    if (!root) return;
    expect({ code, said: stderr }).toMatchObject({ code: 0 });
    expect(differences(place, target)).toEqual([]);
  });

  it('restores one directory, one file, and writes a file to standard output', async () => {
    await using place = await openPlace();
    await place.write({ 'a/one': 'first', 'a/b/two': 'second', 'c/three': 'third', 'a b': 'space' });
    await place.expectRun(['init']);
    await place.expectRun(['backup', place.source]);
    const target = path.join(place.directory, 'target');
    const part = await recover(place, ['restore', 'latest', target, '--path', `${place.source}/a`]);
    const one = path.join(place.directory, 'one');
    await recover(place, ['restore', 'latest', one, '--path', `${place.source}/c/three`]);
    const cat = await recover(place, ['cat', 'latest', `${place.source}/a/b/two`]);
    const listed = await recover(place, ['ls', 'latest', place.source]);
    const nothing = await recover(place, ['cat', 'latest', `${place.source}/a/b/four`]);

    expect(part.code).toBe(0);
    expect(compareTrees(path.join(place.source, 'a'), path.join(target, place.source, 'a'))).toEqual([]);
    expect(existsSync(path.join(target, place.source, 'c'))).toBe(false);
    expect(readdirSync(path.join(one, place.source, 'c'))).toEqual(['three']);
    expect(cat.stdout).toBe('second');
    expect(
      listed.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ').slice(-1)[0]),
    ).toEqual(['a', 'b', 'c']);
    expect(nothing).toMatchObject({ code: 2, stdout: '' });
    expect(nothing.stderr).toContain('is not in the snapshot');
  });

  it('says of a partial snapshot what it lacks', async () => {
    const under = obeyingModes();
    if (under === undefined) return;
    await using place = await openPlace();
    await place.write({ open: 'readable', closed: 'not readable' });
    chmodSync(path.join(place.source, 'closed'), 0);
    await place.expectRun(['init']);
    await place.expectRun(['backup', place.source], 3, { under });
    const target = path.join(place.directory, 'target');
    const { code, stderr } = await recover(place, ['restore', 'latest', target]);

    expect(code).toBe(0);
    expect(stderr).toContain(`${place.source}/closed: EACCES`);
    expect(readdirSync(path.join(target, place.source))).toEqual(['open']);
  });

  it('restores what several machines stored, before and after a prune', async () => {
    await using place = await openPlace();
    await place.write({ shared: 'the same on both\n'.repeat(1_000), own: 'first' });
    await place.expectRun(['init']);
    await place.expectRun(['backup', '--host', 'first', place.source]);
    const other = { env: { HOLDFAST_STATE_DIR: path.join(place.directory, 'other-state') } };
    await place.write({ own: 'second' });
    await place.expectRun(['backup', '--host', 'second', place.source], 0, other);
    const second = path.join(place.directory, 'second');
    const newest = await recover(place, ['restore', 'latest', second]);
    const list = await recover(place, ['list']);
    const writers = readdirSync(path.join(place.repository, 'heads'));
    const [first] = jsonLines(await place.expectRun(['snapshots', '--json'])).flatMap(
      (line) => line['snapshots'] ?? line,
    );

    expect(writers).toHaveLength(2);
    expect(list.stdout).toContain('@first');
    expect(list.stdout).toContain('@second');
    expect(newest.code).toBe(0);
    expect(differences(place, second)).toEqual([]);
    expect(first).toBeDefined();
    await place.expectRun(['forget', '--keep-last', '1', '--group-by', 'paths']);
    await place.expectRun(['prune']);
    const after = path.join(place.directory, 'after');
    expect((await recover(place, ['list'])).stdout).not.toContain('@first');
    expect((await recover(place, ['restore', 'latest', after])).code).toBe(0);
    expect(differences(place, after)).toEqual([]);
  });

  it('restores what write-only keys stored, also when it was sealed anew after a key was removed', async () => {
    await using place = await openPlace();
    await place.write({ shared: 'the same on both\n'.repeat(1_000), own: 'of the server' });
    await place.expectRun(['init']);
    const key = path.join(place.directory, 'server.key');
    await place.expectRun(['keys', 'add', '--write-only', key]);
    const server = {
      env: {
        HOLDFAST_PASSWORD: undefined,
        HOLDFAST_PASSWORD_FILE: key,
        HOLDFAST_STATE_DIR: path.join(place.directory, 'server-state'),
      },
    };
    await place.expectRun(['backup', place.source], 0, server);
    await place.expectRun(['keys', 'rotate']);
    await place.write({ later: 'under newer keys' });
    await place.expectRun(['backup', place.source], 0, server);
    const before = path.join(place.directory, 'before');
    const first = await recover(place, ['restore', 'latest', before]);
    const indexed = path.join(place.directory, 'indexed');
    const copy = path.join(place.directory, 'copy');
    await place.expectRun(['prune']);
    cpSync(place.repository, copy, { recursive: true });
    for (const name of namesBelow(path.join(copy, 'packs'))) {
      const file = path.join(copy, 'packs', name);
      if (!statSync(file).isFile()) continue;
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0, bytes.length - 16));
    }
    const byIndex = await program.run([
      copy,
      '--secret-file',
      passphrase,
      '--any-cost',
      'restore',
      'latest',
      indexed,
    ]);
    const keyAsSecret = await program.run([place.repository, '--any-cost', '--secret-file', key, 'list']);

    expect(first).toMatchObject({ code: 0 });
    expect(differences(place, before)).toEqual([]);
    expect(byIndex.stderr).toContain('(read by index/');
    expect(byIndex.code).toBe(0);
    expect(differences(place, indexed)).toEqual([]);
    expect(keyAsSecret.code).toBe(2);
    const [listed] = jsonLines(await place.expectRun(['keys', 'list', '--json'])).filter(
      ({ kind }) => kind === 'write-only',
    );
    await place.expectRun(['keys', 'remove', String(listed?.['id']).slice(0, 8)]);
    await place.expectRun(['keys', 'rekey']);
    const after = path.join(place.directory, 'after');
    expect(await recover(place, ['restore', 'latest', after])).toMatchObject({ code: 0 });
    expect(differences(place, after)).toEqual([]);
  });

  it('takes for the latest what full keys stored, whatever a write-only key says', async () => {
    await using place = await openPlace();
    await place.write({ file: 'genuine' });
    await place.expectRun(['init']);
    const key = path.join(place.directory, 'server.key');
    await place.expectRun(['keys', 'add', '--write-only', key]);
    await place.expectRun(['backup', '--host', 'db1', place.source]);
    await place.write({ file: 'forged' });
    const server = {
      env: {
        HOLDFAST_PASSWORD: undefined,
        HOLDFAST_PASSWORD_FILE: key,
        HOLDFAST_STATE_DIR: path.join(place.directory, 'server-state'),
      },
    };
    await place.expectRun(['backup', '--host', 'db1', place.source], 0, server);
    const file = `${place.source}/file`;
    const listed = await recover(place, ['list']);
    const forged = await recover(place, ['cat', 'latest', file, '--stored-by', '1']);

    expect(await recover(place, ['cat', 'latest', file])).toMatchObject({ code: 0, stdout: 'genuine' });
    expect(listed.stdout).toMatch(/write-only key 1@[0-9a-f]{8}/);
    expect(forged).toMatchObject({ code: 0, stdout: 'forged' });
    expect(forged.stderr).toContain('was stored with write-only key 1@');
  });

  it('goes into an empty directory alone, and says which secret is wrong', async () => {
    await using place = await openPlace();
    await place.write({ file: 'content' });
    await place.expectRun(['init']);
    await place.expectRun(['backup', place.source]);
    const target = path.join(place.directory, 'target');
    mkdirSync(path.join(target, 'something'), { recursive: true });
    const full = await recover(place, ['restore', 'latest', target]);
    const wrong = path.join(home, 'wrong');
    writeFileSync(wrong, 'wrong');
    const refused = await program.run([place.repository, '--any-cost', '--secret-file', wrong, 'list']);
    writeFileSync(wrong, 'BAAAAAA-AAAAAAA-AAAAAAA-AAAAAAA-AAAAAAA-AAAAAAA-AAAAAAA-AAGM2D2');
    const typed = await program.run([place.repository, '--any-cost', '--secret-file', wrong, 'list']);
    const elsewhere = await program.run([place.source, '--secret-file', passphrase, 'list']);

    expect(full).toMatchObject({ code: 2 });
    expect(full.stderr).toContain('is not empty');
    expect(readdirSync(target)).toEqual(['something']);
    expect([refused.code, typed.code, elsewhere.code]).toEqual([2, 2, 2]);
    expect(refused.stderr).toContain('this passphrase opens no key slot');
    expect(typed.stderr).toContain('this recovery code is mistyped');
    expect(elsewhere.stderr).toContain('is no repository');
  });
}
