/** The forked engine process: every kind of job on a real tree and a real repository. */
// Turn 3 of 8.

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EngineJob } from '../../src/engine/protocol.ts';
import type { RetentionRules } from '../../src/repository/retention/forgetting.ts';
import { obeyingModes } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import {
  completed,
  failed,
  notesOf,
  openSite,
  phasesOf,
  startEngine,
  type EngineProcess,
  type EngineSite,
} from '../unit/engine/engine-process.ts';
import { restoredPath } from '../support/restored-path.ts';

let engine: EngineProcess;
let site: EngineSite;

beforeAll(async () => {
  engine = await startEngine();
});

afterAll(async () => {
  expect(await engine.end()).toBe(0);
  await engine[Symbol.asyncDispose]();
});

beforeEach(() => {
  site = openSite();
});

afterEach(() => {
  site[Symbol.dispose]();
});

/** Older than a backup that begins now: what was just written is read again by the next one. */
async function fill(): Promise<void> {
  site.write({
    'a.txt': 'first',
    'deep/er/b.txt': 'second',
    'deep/empty': '',
    'large.bin': randomBytes(3_000_000),
    'name with blanks/ö': 'third',
  });
  symlinkSync('a.txt', join(site.source, 'link'));
  await delay(60);
}

/** Snapshot objects of the repository. */
function snapshots(): readonly string[] {
  return readdirSync(join(site.store, 'snapshots'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

function leases(): readonly string[] {
  const directory = join(site.store, 'leases');
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

function storedBytes(): number {
  return readdirSync(join(site.store, 'packs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
}

async function backUp(): Promise<{ readonly snapshot: string; readonly repository: string }> {
  const outcome = completed(await engine.run(site.job(site.backup())));
  return { snapshot: outcome.snapshotId ?? '', repository: outcome.repositoryId };
}

describe('a backup', () => {
  test('makes the repository of an absent place, and restores byte for byte', async () => {
    await fill();
    const ended = await engine.run(site.job(site.backup({ tags: ['mine'] })));
    const outcome = completed(ended);
    expect(outcome).toMatchObject({ result: 'success', files: 5, warnings: 0, storedBytes: storedBytes() });
    expect(outcome.repositoryId).toMatch(/^[0-9a-f]{32}$/);
    expect(outcome.snapshotId).toBe(snapshots()[0]);
    expect(outcome.bytes).toBe(3_000_000 + 'firstsecondthird'.length);
    expect(outcome.progress).toMatchObject({ percent: 100, files_total: 5, files_new: 5, files_failed: 0 });
    expect(outcome.progress.bytes_uploaded).toBeGreaterThan(3_000_000);
    expect(phasesOf(ended)).toEqual(expect.arrayContaining(['scanning', 'uploading', 'committing']));
    expect(notesOf(ended).join()).toContain('A new repository was created');
    expect(leases()).toEqual([]);

    const target = join(site.directory, 'target');
    const restored = await engine.run(site.job(site.restore(outcome.snapshotId ?? '', target)));
    expect(completed(restored)).toMatchObject({ result: 'success', files: 5, filesSkipped: 0 });
    expect(phasesOf(restored)).toContain('restoring');
    expect(compareTrees(site.source, restoredPath(target, site.source)).map(shownDifference)).toEqual([]);
  });

  test('stores only what is new the second time', async () => {
    await fill();
    const first = completed(await engine.run(site.job(site.backup())));
    site.write({ 'a.txt': 'changed' });
    const again = site.job(site.backup(), { destination: { repositoryId: first.repositoryId } });
    const second = completed(await engine.run(again));
    expect(second.progress).toMatchObject({ files_new: 0, files_changed: 1, files_total: 5 });
    expect(second.progress.bytes_uploaded).toBeLessThan(100_000);
    expect(second.progress.bytes_deduplicated).toBeGreaterThanOrEqual(3_000_000);
  });

  test('leaves out what settings and request exclude, the state directory and the repository', async () => {
    site.write({ 'keep.txt': '1', 'a.tmp': '2', 'b.log': '3', 'skip/c': '4', 'skip/.nobackup': '' });
    const inside = { stateDirectory: join(site.source, 'state'), url: join(site.source, 'store') };
    mkdirSync(inside.stateDirectory);
    const job = site.job(site.backup({ exclude: ['*.log'] }), {
      stateDirectory: inside.stateDirectory,
      destination: { url: inside.url },
      exclude: { ...site.job(site.backup()).exclude, patterns: ['*.tmp'], ifPresent: ['.nobackup'] },
    });
    // keep.txt, and the marker, which says why the rest is missing
    expect(completed(await engine.run(job))).toMatchObject({ files: 2 });
  });

  test('that is dry makes no repository where there is none', async () => {
    await fill();
    const ended = await engine.run(site.job(site.backup({ dry_run: true })));
    expect(completed(ended)).toMatchObject({
      snapshotId: null,
      files: 5,
      repositoryId: '',
      result: 'success',
    });
    expect(existsSync(site.store)).toBe(false);
  });

  test('that is dry counts what a real one would read', async () => {
    await fill();
    await backUp();
    site.write({ 'new.txt': 'four' });
    const ended = completed(await engine.run(site.job(site.backup({ dry_run: true }))));
    expect(ended).toMatchObject({ snapshotId: null, files: 6, facts: { bytes_to_read: 4 } });
    expect(ended.progress).toMatchObject({ files_new: 1, files_unchanged: 5, percent: 100 });
    expect(snapshots()).toHaveLength(1);
  });

  test('that was interrupted after its commit completes with the snapshot it made', async () => {
    await fill();
    const job = site.job(site.backup());
    const first = completed(await engine.run(job));
    expect(first.hasReadSource).toBe(true);
    site.write({ 'later.txt': 'x' });
    const second = await engine.run(job);
    expect(completed(second)).toMatchObject({
      snapshotId: first.snapshotId,
      files: first.files,
      bytes: first.bytes,
      hasReadSource: false,
      facts: { resumed: true },
    });
    expect(notesOf(second).join()).toContain('had already completed');
    expect(snapshots()).toHaveLength(1);
  });

  test('of a source that is not there fails with INVALID_SOURCE', async () => {
    await rm(site.source, { recursive: true });
    const error = failed(await engine.run(site.job(site.backup())));
    expect(error).toMatchObject({ code: 'INVALID_SOURCE', details: { reason: 'not_found' } });
    expect(error.message).toContain('does not exist');
  });

  test('of a source that was closed says that it read nothing, and of nothing that is left then, that it is gone', async (context) => {
    const under = obeyingModes();
    if (under === undefined) return context.skip();
    await fill();
    await using other = await startEngine({ under });
    completed(await other.run(site.job(site.backup())));
    for (const name of ['a.txt', 'large.bin', 'name with blanks/ö']) chmodSync(join(site.source, name), 0);
    for (const name of ['deep', 'deep/empty']) chmodSync(join(site.source, name), 0);
    const closed = completed(await other.run(site.job(site.backup())));
    expect(closed).toMatchObject({ result: 'warning', files: 0, compared: { filesBefore: 5 } });
    expect(closed.compared?.unread).toBeGreaterThan(1);
    // What is compared with next is not the one that shows nothing.
    chmodSync(join(site.source, 'a.txt'), 0o600);
    const open = completed(await other.run(site.job(site.backup())));
    expect(open).toMatchObject({ files: 1, compared: { filesBefore: 5 }, progress: { files_new: 0 } });

    chmodSync(join(site.source, 'a.txt'), 0);
    completed(await other.run(site.job(site.backup())));
    // As the disk is not mounted.
    await rm(site.source, { recursive: true });
    mkdirSync(site.source);
    expect(failed(await other.run(site.job(site.backup())))).toMatchObject({
      code: 'SOURCE_SUSPICIOUSLY_EMPTY',
    });
  });

  test('reports the file that it may not read and saves the rest', async (context) => {
    const under = obeyingModes();
    if (under === undefined) return context.skip();
    await fill();
    chmodSync(join(site.source, 'a.txt'), 0);
    await using other = await startEngine({ under });
    const ended = await other.run(site.job(site.backup()));
    expect(completed(ended)).toMatchObject({ result: 'warning', warnings: 1, files: 4 });
    expect(completed(ended).progress.files_failed).toBe(1);
    const problems = ended.messages.filter((message) => message.kind === 'problem');
    expect(problems.map(({ problem }) => [problem.path, problem.code])).toEqual([
      [join(site.source, 'a.txt'), 'EACCES'],
    ]);
  });
});

describe('a change set', () => {
  /** Everything is as it was but for a file whose directory looks untouched. */
  function changeUnseen(): void {
    writeFileSync(join(site.source, 'deep/er/b.txt'), 'SECOND');
  }

  async function changedFiles(
    paths: readonly string[],
    overrides: { readonly since?: number; readonly patterns?: readonly string[] } = {},
  ) {
    const { since, patterns = [] } = overrides;
    const job = site.job(site.backup(), {
      changes: {
        paths: paths.map((path) => join(site.source, path)),
        ...(since === undefined ? {} : { since }),
      },
      exclude: { ...site.job(site.backup()).exclude, patterns },
    });
    const { progress, facts } = completed(await engine.run(job));
    return { changed: progress.files_changed, incremental: facts['from_changes'] };
  }

  beforeEach(async () => {
    await fill();
    await backUp();
    changeUnseen();
  });

  test('has only the named places looked at', async () => {
    expect(await changedFiles(['a.txt'])).toEqual({ changed: 0, incremental: true });
    expect(await changedFiles(['deep/er/b.txt'])).toEqual({ changed: 1, incremental: true });
  });

  test('is not trusted when the rules of the last backup were others', async () => {
    expect(await changedFiles([], { patterns: ['*.none'] })).toEqual({ changed: 1, incremental: false });
    changeUnseen();
    expect(await changedFiles([], { patterns: ['*.none'] })).toMatchObject({ incremental: true });
  });

  test('is not trusted when it begins after the snapshot it is compared with', async () => {
    const later = Date.now() + 1000;
    expect(await changedFiles([], { since: later })).toEqual({ changed: 1, incremental: false });
  });

  test('goes with files of rules that are not in the snapshot, and counts what they hid once they are gone', async () => {
    const rules = { ...site.job(site.backup()).exclude, ignoreFiles: ['.rules'] };
    site.write({ 'deep/.rules': '.*\n*.o\n', 'deep/er/c.o': 'object' });
    const backUpAfter = async (...paths: readonly string[]) => {
      const changes = { paths: paths.map((path) => join(site.source, path)) };
      const { files, facts } = completed(
        await engine.run(site.job(site.backup(), { changes, exclude: rules })),
      );
      return { files, incremental: facts['from_changes'] };
    };
    expect(await backUpAfter()).toEqual({ files: 5, incremental: false });
    changeUnseen();
    expect(await backUpAfter('deep/er')).toEqual({ files: 5, incremental: true });
    await rm(join(site.source, 'deep/.rules'));
    expect(await backUpAfter('deep')).toEqual({ files: 6, incremental: true });
  });

  test('is not trusted when a file with several names changed', async () => {
    await changedFiles(['deep/er/b.txt']);
    linkSync(join(site.source, 'a.txt'), join(site.source, 'deep/other name'));
    expect(await changedFiles(['deep/other name'])).toMatchObject({ incremental: false });
  });
});

describe('which repository a job has opened', () => {
  /** At work until it has opened its repository, which nobody answers. */
  async function opensUnanswered(waiting: EngineProcess): Promise<{
    readonly repositoryId: string;
    readonly ended: ReturnType<EngineProcess['run']>;
  }> {
    const opened = waiting.next('opened');
    const ended = waiting.run(site.job(site.backup()));
    return { repositoryId: (await opened).repositoryId, ended };
  }

  test('is told before anything is stored there, and the job waits until that is remembered', async () => {
    await fill();
    await using waiting = await startEngine({ remembers: false });
    const { repositoryId, ended } = await opensUnanswered(waiting);
    await delay(300);
    expect(readdirSync(site.store).sort()).toEqual(['config', 'copies', 'keys', 'reserve']);
    waiting.send({ kind: 'remembered' });
    expect(completed(await ended).repositoryId).toBe(repositoryId);
  });

  test('is not told again when it is remembered, nor by a dry run that makes none', async () => {
    const isTold = async (job: EngineJob): Promise<boolean> =>
      (await engine.run(job)).messages.some(({ kind }) => kind === 'opened');
    await fill();
    expect(await isTold(site.job(site.backup({ dry_run: true })))).toBe(false);
    const { repository: repositoryId } = await backUp();
    expect(await isTold(site.job(site.backup(), { destination: { repositoryId } }))).toBe(false);
    expect(await isTold(site.job(site.backup()))).toBe(true);
  });

  test('is found again by the next attempt when nobody has come to remember it', async () => {
    await fill();
    await using dying = await startEngine({ remembers: false });
    const { repositoryId, ended } = await opensUnanswered(dying);
    dying.child.kill('SIGKILL');
    await expect(ended).rejects.toThrow('SIGKILL');
    const again = await engine.run(site.job(site.backup()));
    expect(completed(again).repositoryId).toBe(repositoryId);
    expect(notesOf(again).join()).not.toContain('A new repository');
  });

  test('is not waited for by a job that is canceled', async () => {
    await fill();
    await using waiting = await startEngine({ remembers: false });
    const { ended } = await opensUnanswered(waiting);
    waiting.send({ kind: 'cancel' });
    expect((await ended).last).toEqual({ kind: 'canceled' });
  });
});

/** Of the process of the engine, below the destination. */
function openFiles(): readonly string[] {
  const directory = `/proc/${engine.child.pid}/fd`;
  return readdirSync(directory)
    .map((number) => readlinkIfThere(join(directory, number)))
    .filter((path) => path.startsWith(site.store));
}

function readlinkIfThere(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe('a destination', () => {
  test.runIf(process.platform === 'linux')(
    'is let go of soon after a job, so that its disk can be unmounted, and opened again by the next',
    async () => {
      await fill();
      const { repository } = await backUp();
      const untilMs = performance.now() + 15_000;
      while (openFiles().length > 0 && performance.now() < untilMs) await delay(100);
      expect(openFiles()).toEqual([]);
      const again = site.job(site.backup(), { destination: { repositoryId: repository } });
      completed(await engine.run(again));
    },
  );

  test('opened with another passphrase is refused', async () => {
    await fill();
    const { repository } = await backUp();
    const secret = { kind: 'passphrase', text: 'something else entirely' } as const;
    const job = site.job(site.backup(), { destination: { secret, repositoryId: repository } });
    const error = failed(await engine.run(job));
    expect(error.code).toBe('WRONG_PASSPHRASE');
    expect(JSON.stringify(error)).not.toContain(secret.text);
  });

  test('that is remembered and gone is an error, and nothing is made in its place', async () => {
    await fill();
    const { repository } = await backUp();
    renameSync(site.store, `${site.store}-away`);
    const job = site.job(site.backup(), { destination: { repositoryId: repository } });
    expect(failed(await engine.run(job))).toMatchObject({
      code: 'DESTINATION_ERROR',
      message: expect.stringContaining('use another folder as the destination'),
      details: { reason: 'missing' },
    });
    expect(existsSync(site.store)).toBe(false);
  });

  test('that is remembered and found empty is an error, and stays empty', async () => {
    await fill();
    const { repository } = await backUp();
    renameSync(site.store, `${site.store}-away`);
    mkdirSync(site.store);
    const job = site.job(site.backup(), { destination: { repositoryId: repository } });
    expect(failed(await engine.run(job))).toMatchObject({
      code: 'DESTINATION_ERROR',
      message: expect.stringContaining('use another folder as the destination'),
      details: { reason: 'empty' },
    });
    expect(readdirSync(site.store)).toEqual([]);
  });

  test('in which another repository lies than is remembered is an error', async () => {
    await fill();
    const { repository } = await backUp();
    renameSync(site.store, `${site.store}-away`);
    await backUp();
    const job = site.job(site.backup(), { destination: { repositoryId: repository } });
    expect(failed(await engine.run(job))).toMatchObject({
      code: 'DESTINATION_ERROR',
      message: expect.stringContaining('move it to another folder'),
      details: { reason: 'different' },
    });
    expect(snapshots()).toHaveLength(1);
  });

  test('with other files in it is not taken for a new one', async () => {
    await fill();
    mkdirSync(site.store);
    writeFileSync(join(site.store, 'thesis.txt'), 'mine');
    expect(failed(await engine.run(site.job(site.backup()))).code).toBe('DESTINATION_ERROR');
    expect(readdirSync(site.store)).toEqual(['thesis.txt']);
  });

  test('without a repository is not made one by other jobs than backups', async () => {
    const job = site.job({ type: 'check', destination: 'default', read_data: 0 });
    expect(failed(await engine.run(job)).code).toBe('DESTINATION_ERROR');
    expect(existsSync(site.store)).toBe(false);
  });

  test('opens with a machine key too', async () => {
    await fill();
    const secret = { kind: 'machine', base64: randomBytes(32).toString('base64') } as const;
    const first = completed(await engine.run(site.job(site.backup(), { destination: { secret } })));
    const job = site.job(site.backup(), { destination: { secret, repositoryId: first.repositoryId } });
    expect(completed(await engine.run(job)).repositoryId).toBe(first.repositoryId);
  });
});

describe('a restore', () => {
  test('into the state directory or the repository is refused', async () => {
    await fill();
    const { snapshot } = await backUp();
    for (const target of [site.state, join(site.state, 'below'), join(site.store, 'packs')]) {
      const error = failed(await engine.run(site.job(site.restore(snapshot, target))));
      expect(error).toMatchObject({
        code: 'INVALID_TARGET',
        details: { reason: 'inside_state_directory' },
      });
    }
    expect(readdirSync(site.state)).not.toContain('below');
  });

  test('takes paths as text and as bytes', async () => {
    await fill();
    const { snapshot } = await backUp();
    const paths = [
      join(site.source, 'a.txt'),
      { b64: Buffer.from(join(site.source, 'name with blanks/ö')).toString('base64') },
    ];
    const target = join(site.directory, 'target');
    const outcome = completed(await engine.run(site.job(site.restore(snapshot, target, {}, paths))));
    expect(outcome.files).toBe(2);
    expect(readFileSync(restoredPath(target, site.source, 'name with blanks/ö'), 'utf8')).toBe('third');
    expect(existsSync(restoredPath(target, site.source, 'large.bin'))).toBe(false);
  });

  test('of a path that is not in the snapshot fails', async () => {
    await fill();
    const { snapshot } = await backUp();
    const job = site.job(site.restore(snapshot, join(site.directory, 'target'), {}, ['/no/such']));
    expect(failed(await engine.run(job)).code).toBe('PATH_NOT_IN_SNAPSHOT');
  });

  test('of a snapshot that is not there fails', async () => {
    await fill();
    await backUp();
    const job = site.job(site.restore('0'.repeat(64), join(site.directory, 'target')));
    expect(failed(await engine.run(job)).code).toBe('SNAPSHOT_NOT_FOUND');
  });

  test('brings back all but what is damaged, and names that', async () => {
    await fill();
    const { snapshot } = await backUp();
    damagePack();
    const target = join(site.directory, 'target');
    const ended = await engine.run(site.job(site.restore(snapshot, target)));
    const outcome = completed(ended);
    expect(outcome.result).toBe('warning');
    expect(outcome.warnings).toBeGreaterThan(0);
    expect(outcome.files + outcome.progress.files_failed).toBe(5);
    const problems = ended.messages.flatMap((message) =>
      message.kind === 'problem' ? [[message.problem.path, message.problem.code]] : [],
    );
    expect(problems).toContainEqual([join(site.source, 'large.bin'), 'CORRUPT_DATA']);
  });

  test('in place counts what stands and leaves it alone', async () => {
    await fill();
    const { snapshot } = await backUp();
    site.write({ 'a.txt': 'mine now' });
    await rm(join(site.source, 'deep'), { recursive: true });
    const outcome = completed(await engine.run(site.job(site.restore(snapshot, null))));
    expect(outcome).toMatchObject({ files: 2, filesSkipped: 3 });
    expect(readFileSync(join(site.source, 'a.txt'), 'utf8')).toBe('mine now');
    expect(readFileSync(join(site.source, 'deep/er/b.txt'), 'utf8')).toBe('second');
  });

  test('in place that deletes what is extra keeps the state directory and the repository', async () => {
    await fill();
    const places = { stateDirectory: join(site.source, 'own/state'), url: join(site.source, 'own/store') };
    mkdirSync(places.stateDirectory, { recursive: true });
    const overrides = { stateDirectory: places.stateDirectory, destination: { url: places.url } };
    const { snapshotId } = completed(await engine.run(site.job(site.backup(), overrides)));
    site.write({ extra: 'x', 'own/extra': 'x' });
    const kept = readdirSync(places.url);
    const spec = site.restore(snapshotId ?? '', null, { delete_extra: true, overwrite: 'always' });
    expect(completed(await engine.run(site.job(spec, overrides))).facts['deleted']).toBe(2);
    expect(existsSync(join(site.source, 'extra'))).toBe(false);
    expect(existsSync(join(site.source, 'own/extra'))).toBe(false);
    expect(readdirSync(places.url)).toEqual(kept);
    expect(existsSync(places.stateDirectory)).toBe(true);
  });

  test('that deletes what is extra does not put a file in the place of what leads to the repository', async () => {
    site.write({ own: 'a file' });
    const { snapshotId, repositoryId } = completed(await engine.run(site.job(site.backup())));
    await rm(join(site.source, 'own'));
    mkdirSync(join(site.source, 'own'));
    const url = join(site.source, 'own/store');
    renameSync(site.store, url);
    const spec = site.restore(snapshotId ?? '', null, { delete_extra: true, overwrite: 'always' });
    const ended = await engine.run(site.job(spec, { destination: { url, repositoryId } }));
    expect(completed(ended)).toMatchObject({ result: 'warning', warnings: 1 });
    expect(ended.messages).toContainEqual({
      kind: 'problem',
      problem: expect.objectContaining({ path: join(site.source, 'own'), code: 'IN_THE_WAY' }),
    });
    expect(existsSync(join(url, 'snapshots'))).toBe(true);
  });
});

/** Breaks a data pack in its middle. */
function damagePack(): void {
  const packs = readdirSync(join(site.store, 'packs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort((a, b) => lstatSync(b).size - lstatSync(a).size);
  const [largest = ''] = packs;
  const bytes = readFileSync(largest);
  bytes.fill(0x55, 1_000_000, 1_000_100);
  chmodSync(largest, 0o600);
  truncateSync(largest);
  writeFileSync(largest, bytes);
}

describe('a check', () => {
  test('of a sound repository completes with what it counted', async () => {
    await fill();
    await backUp();
    const ended = await engine.run(site.job({ type: 'check', destination: 'default', read_data: 1 }));
    expect(completed(ended)).toMatchObject({ result: 'success', storedBytes: storedBytes() });
    expect(completed(ended).facts).toMatchObject({ snapshots: 1, bytes_read: storedBytes() });
    expect(phasesOf(ended)).toEqual(['verifying']);
  });

  test('that finds damage fails with CORRUPT_DATA and tells every finding', async () => {
    await fill();
    await backUp();
    damagePack();
    const ended = await engine.run(site.job({ type: 'check', destination: 'default', read_data: 1 }));
    expect(failed(ended)).toMatchObject({ code: 'CORRUPT_DATA', details: { errors: 1 } });
    const problems = ended.messages.filter((message) => message.kind === 'problem');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.problem.path).toMatch(/^pack /);
  });

  test('that finds damage has the next backup store again what is still there', async () => {
    await fill();
    await backUp();
    damagePack();
    const check = site.job({ type: 'check', destination: 'default', read_data: 1 });
    expect(failed(await engine.run(check)).code).toBe('CORRUPT_DATA');
    await backUp();
    const again = site.job({ type: 'check', destination: 'default', read_data: 1 });
    expect(completed(await engine.run(again)).result).toBe('warning');
  });
});

describe('a prune', () => {
  const rules: RetentionRules = {
    keep_last: 1,
    keep_hourly: null,
    keep_daily: null,
    keep_weekly: null,
    keep_monthly: null,
    keep_yearly: null,
    keep_within: null,
    time_zone: null,
    frozen: [],
  };
  const spec = { type: 'prune', destination: 'default', apply_retention: true } as const;

  async function backUpThrice(): Promise<void> {
    for (const content of ['1', '2', '3']) {
      site.write({ 'a.txt': content });
      await backUp();
    }
  }

  test('forgets what the rules do not keep', async () => {
    await backUpThrice();
    const ended = await engine.run(site.job(spec, { retention: rules }));
    expect(completed(ended).facts).toMatchObject({ snapshots_forgotten: 2, snapshots_kept: 1 });
    expect(phasesOf(ended)).toEqual(['pruning']);
    const next = completed(await engine.run(site.job(spec, { retention: rules })));
    expect(next.facts).toMatchObject({ snapshots_forgotten: 0, snapshots_kept: 1 });
  });

  test('forgets nothing of a source from before an alarm about it, and of others what the rules say', async () => {
    await backUpThrice();
    const before = Date.now() + 60_000;
    // The source is named through a link, and has disappeared.
    const link = join(site.directory, 'link');
    symlinkSync(site.source, link);
    renameSync(site.source, join(site.directory, 'away'));
    for (const source of [link, site.source]) {
      const ended = await engine.run(
        site.job(spec, { retention: { ...rules, frozen: [{ source, before }] } }),
      );
      expect(completed(ended).facts).toMatchObject({ snapshots_forgotten: 0, snapshots_frozen: 2 });
      expect(notesOf(ended).join()).toContain('alarm');
    }
    const other = { source: join(site.directory, 'other'), before };
    const ended = await engine.run(site.job(spec, { retention: { ...rules, frozen: [other] } }));
    expect(completed(ended).facts).toMatchObject({ snapshots_forgotten: 2, snapshots_frozen: 0 });
  });

  test('without rules, or when retention is not asked for, forgets nothing', async () => {
    await backUpThrice();
    const none = await engine.run(site.job(spec, { retention: { ...rules, keep_last: null } }));
    expect(completed(none).facts).toMatchObject({ snapshots_forgotten: 0 });
    const other = site.job({ ...spec, apply_retention: false }, { retention: rules });
    expect(completed(await engine.run(other)).facts).not.toHaveProperty('snapshots_forgotten');
    expect(snapshots()).toHaveLength(3);
  });
});

describe('a drill', () => {
  test('restores files of the newest snapshots and finds them equal', async () => {
    await fill();
    await backUp();
    // Of a drill that was killed; no process has this number.
    mkdirSync(join(site.state, 'drill-999999999-0123456789abcdef/below'), { recursive: true });
    const ended = await engine.run(site.job({ type: 'drill', destination: 'default', files: 3 }));
    expect(completed(ended)).toMatchObject({ result: 'success', files: 3 });
    expect(completed(ended).facts).toMatchObject({ files: 3, files_failed: 0, snapshots: 1 });
    expect(phasesOf(ended)).toEqual(['scanning', 'restoring', 'verifying']);
    expect(readdirSync(site.state).filter((name) => name.startsWith('drill'))).toEqual([]);
  });

  test('over a damaged file fails with CORRUPT_DATA, names it, and clears up', async () => {
    await fill();
    await backUp();
    damagePack();
    const ended = await engine.run(site.job({ type: 'drill', destination: 'default', files: 100 }));
    expect(failed(ended)).toMatchObject({ code: 'CORRUPT_DATA', details: { files: 5 } });
    const problems = ended.messages.flatMap((message) =>
      message.kind === 'problem' ? [message.problem.path] : [],
    );
    expect(problems).toContain(join(site.source, 'large.bin'));
    expect(readdirSync(site.state).filter((name) => name.startsWith('drill'))).toEqual([]);
  });

  test('with nothing to restore says that it proved nothing', async () => {
    await backUp();
    const ended = await engine.run(site.job({ type: 'drill', destination: 'default', files: 3 }));
    expect(completed(ended)).toMatchObject({ result: 'warning', files: 0 });
    expect(notesOf(ended).join()).toContain('there was nothing to test');
  });
});

describe('while a job runs', () => {
  /** So slow that a test can do something meanwhile. */
  const slow = { destination: { uploadLimit: 50_000 } };

  test('uploads keep to the limit', async () => {
    site.write({ 'large.bin': randomBytes(1_500_000) });
    const started = performance.now();
    const ended = await engine.run(site.job(site.backup(), { destination: { uploadLimit: 1_000_000 } }));
    const seconds = (performance.now() - started) / 1000;
    expect(completed(ended).progress.bytes_uploaded).toBeGreaterThan(1_500_000);
    expect(seconds).toBeGreaterThan(0.4);
    expect(seconds).toBeLessThan(30);
  });

  test('the limit can be lifted', async () => {
    await fill();
    const phase = engine.next('phase');
    const running = engine.run(site.job(site.backup(), slow));
    await phase;
    engine.send({ kind: 'limit', uploadLimit: null });
    expect(completed(await running).files).toBe(5);
  });

  test('cancel breaks it off, leaves no lease and no snapshot, and the next job works', async () => {
    await fill();
    const progress = engine.next('progress');
    const running = engine.run(site.job(site.backup(), slow));
    await progress;
    engine.send({ kind: 'cancel' });
    const ended = await running;
    expect(ended.last).toEqual({ kind: 'canceled' });
    expect(leases()).toEqual([]);
    expect(existsSync(join(site.store, 'snapshots'))).toBe(false);
    expect(completed(await engine.run(site.job(site.backup()))).files).toBe(5);
  });

  test('progress comes twice a second at most', async () => {
    await fill();
    const started = performance.now();
    const running = engine.run(site.job(site.backup(), { destination: { uploadLimit: 1_200_000 } }));
    const { messages } = await running;
    const seconds = (performance.now() - started) / 1000;
    const told = messages.filter(({ kind }) => kind === 'progress').length;
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThanOrEqual(2 * seconds + 1);
  });

  test('a request to end cancels it first', async () => {
    await fill();
    await using other = await startEngine();
    const progress = other.next('progress');
    const running = other.run(site.job(site.backup(), slow));
    await progress;
    const ending = other.end();
    expect((await running).last).toEqual({ kind: 'canceled' });
    expect(await ending).toBe(0);
    expect(leases()).toEqual([]);
  });
});

test('a cancel without a job, and signals of a terminal, do nothing', async () => {
  await fill();
  engine.send({ kind: 'cancel' });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) engine.child.kill(name);
  expect(completed(await engine.run(site.job(site.backup()))).files).toBe(5);
});
