// Turn 8 of 8.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PASSPHRASE, jsonLines, openPlace, type Place } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { restoredPath } from '../support/restored-path.ts';

async function openInitialised(): Promise<Place> {
  const place = await openPlace();
  await place.expectRun(['init']);
  return place;
}

async function idOfBackup(place: Place, ...words: readonly string[]): Promise<string> {
  const outcome = await place.expectRun(['backup', '--json', place.source, ...words]);
  return String(jsonLines(outcome).at(-1)?.['snapshot_id']);
}

test.concurrent('what was backed up comes back below its full path, and a second restore changes nothing', async () => {
  await using place = await openInitialised();
  await place.write({ 'a.txt': 'first', 'deep/er/b.bin': Buffer.alloc(300_000, 'b'), 'empty/': '' });
  await symlink('a.txt', join(place.source, 'link'));
  const saved = await place.expectRun(['backup', place.source, '--tag', 'one,two']);
  expect(saved.stdout).toMatch(
    /^Snapshot [0-9a-f]{8} saved: 2 files, 293\.0 KiB, in .*\n {2}2 new files, 0 changed/,
  );
  expect(saved.stderr).toBe('');

  const target = join(place.directory, 'back');
  const restored = await place.expectRun(['restore', 'latest', '--target', target]);
  expect(restored.stdout).toContain('Restored 2 files (293.0 KiB)');
  expect(compareTrees(place.source, restoredPath(target, place.source)).map(shownDifference)).toEqual([]);

  const again = await place.expectRun([
    'restore',
    'latest',
    '--target',
    target,
    '--json',
    '--overwrite',
    'if-changed',
  ]);
  expect(jsonLines(again).at(-1)).toMatchObject({ type: 'summary', files_restored: 0, files_unchanged: 2 });
});

test.concurrent('the last line of backup --json is a summary, and unchanged files are not read again', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'aaaa', b: 'bb' });
  const summary = jsonLines(await place.expectRun(['backup', '--json', place.source])).at(-1);
  expect(summary).toMatchObject({
    type: 'summary',
    snapshot_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    files_total: 2,
    files_new: 2,
    files_changed: 0,
    files_unchanged: 0,
    files_failed: 0,
    bytes_total: 6,
    bytes_read: 6,
    duration_seconds: expect.any(Number),
  });
  expect(summary?.['bytes_stored']).toBeGreaterThan(0);
  expect(summary?.['bytes_uploaded']).toBeGreaterThan(0);
  // Files that changed within the last tick of the clock are read once more.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await place.expectRun(['backup', '--force', place.source]);
  const second = jsonLines(await place.expectRun(['backup', '--json', place.source])).at(-1);
  expect(second).toMatchObject({ files_new: 0, files_unchanged: 2, bytes_read: 0 });
});

test.concurrent('a dry run says what would be saved and read, and stores nothing', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'aaaa', b: 'bb' });
  const dry = await place.expectRun(['backup', '--dry-run', place.source]);
  expect(dry.stdout).toContain('Would back up 2 files, 6 B: 2 new files');
  expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toEqual([]);
  await place.expectRun(['backup', place.source]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await place.expectRun(['backup', place.source]);
  await place.write({ b: 'changed' });
  const second = await place.expectRun(['backup', '--dry-run', '--json', place.source]);
  expect(jsonLines(second).at(-1)).toMatchObject({
    type: 'summary',
    snapshot_id: null,
    files_changed: 1,
    files_unchanged: 1,
    dry_run: true,
    bytes_read: 0,
    bytes_to_read: 7,
    bytes_stored: 0,
    bytes_uploaded: 0,
    duration_seconds: expect.any(Number),
  });
});

test.concurrent('excluded files stay out, and explain says why', async () => {
  await using place = await openInitialised();
  await place.write({
    'keep.c': 'x',
    'keep.o': 'x',
    'drop.o': 'x',
    '.gitignore': '*.log\n',
    'a.log': 'x',
    'BIG.C': 'x',
  });
  const rules = [
    '--exclude',
    '*.o',
    '--exclude',
    '!keep.o',
    '--iexclude',
    'big.*',
    '--ignore-file',
    '.gitignore',
  ];
  await place.expectRun(['backup', place.source, ...rules]);
  const listed = await place.expectRun(['ls', 'latest']);
  expect(listed.stdout.split('\n').map((path) => path.slice(place.source.length + 1))).toEqual([
    '.gitignore',
    'keep.c',
    'keep.o',
    '',
  ]);
  const asked = ['drop.o', 'keep.o', 'a.log'].map((name) => join(place.source, name));
  const why = await place.expectRun(['explain', '--source', place.source, ...rules, ...asked]);
  expect(why.stdout.split('\n')).toEqual([
    `${asked[0]} is left out: it matches the pattern '*.o' from --exclude.`,
    `${asked[1]} is backed up: the pattern '!keep.o' from --exclude includes it again.`,
    `${asked[2]} is left out: it matches the pattern '*.log' from ${place.source}/.gitignore:1.`,
    '',
  ]);
});

test.concurrent('a source inside another one is saved whatever is left out around it, and explain says so', async () => {
  await using place = await openInitialised();
  await place.write({ 'cache/important/a': 'x', 'cache/junk': 'x', b: 'x' });
  const cache = join(place.source, 'cache');
  const important = join(cache, 'important');
  const rules = ['--exclude', 'cache'];
  const dry = await place.expectRun(['backup', '-n', '--json', place.source, important, ...rules]);
  expect(jsonLines(dry).at(-1)).toMatchObject({ files_new: 2 });
  await place.expectRun(['backup', place.source, important, ...rules]);
  const listed = await place.expectRun(['ls', '-R', 'latest', place.source]);
  expect(listed.stdout.split('\n').map((path) => path.slice(place.source.length + 1))).toEqual([
    'b',
    'cache',
    'cache/important',
    'cache/important/a',
    '',
  ]);
  const sources = ['--source', place.source, '--source', important];
  const asked = [cache, join(cache, 'junk'), join(important, 'a')];
  const why = await place.expectRun(['explain', ...sources, ...rules, ...asked]);
  expect(why.stdout.split('\n')).toEqual([
    `${cache} is backed up only as far as it leads to the source ${important}: it matches the pattern 'cache' from --exclude.`,
    `${asked[1]} is left out with the directory ${cache}: it matches the pattern 'cache' from --exclude.`,
    `${asked[2]} is backed up: no rule leaves it out.`,
    '',
  ]);
});

test.concurrent('a source that was backed up is saved as nothing, and that is said', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'x' });
  for (const dry of [[], ['-n']]) {
    const saved = await place.expectRun(['backup', ...dry, '--exclude', place.source, place.source]);
    expect(saved.stderr).toContain(
      `Warning: Nothing in the source ${place.source} was backed up: it matches the pattern '${place.source}' from --exclude. To back it up, remove that rule or file.`,
    );
  }
});

test.concurrent('the repository and the state directory are never backed up, whatever the source', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'x' });
  await place.expectRun(['backup', place.directory]);
  const { stdout } = await place.expectRun(['ls', '-R', 'latest']);
  expect(stdout).toContain(join(place.source, 'a'));
  expect(stdout).not.toContain(place.repository);
  expect(stdout).not.toContain(place.state);
  const inside = await place.run(['backup', join(place.repository, 'packs')]);
  expect(inside).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is the repository itself, or in it'),
  });
});

test.concurrent('a link on the way to the source is resolved, and a link as the source is stored as such', async () => {
  await using place = await openInitialised();
  await place.write({ 'real/a': 'x' });
  await symlink('real', join(place.source, 'way'));
  const through = await place.expectRun(['backup', join(place.source, 'way', 'a')]);
  expect(through.stderr).toContain(`is stored under its real path, ${join(place.source, 'real', 'a')}`);
  const { stdout } = await place.expectRun(['ls', 'latest']);
  expect(stdout).toBe(`${join(place.source, 'real', 'a')}\n`);
  const link = await place.expectRun(['backup', join(place.source, 'way')]);
  expect(link.stderr).toContain('only the link is backed up');
  await rm(join(place.source, 'real'), { recursive: true });
  const nowhere = await place.run(['backup', `${join(place.source, 'way')}/`]);
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('does not exist') });
});

test.concurrent('a source that had files and has none is told of', async () => {
  await using place = await openInitialised();
  await place.write({ 'disk/a': 'x' });
  const disk = join(place.source, 'disk');
  expect((await place.expectRun(['backup', disk])).stderr).not.toContain('Warning');
  await rm(join(disk, 'a'));
  const emptied = await place.expectRun(['backup', '--json', disk]);
  expect(emptied.stderr).toContain(`${disk} had 1 file at the last backup and is empty now`);
  expect(jsonLines(emptied).at(-1)).toMatchObject({ files_total: 0, files_before: 1 });
  expect((await place.expectRun(['backup', disk])).stderr).not.toContain('Warning');
});

test.concurrent('a source of which rules leave out everything is not called empty', async () => {
  await using place = await openInitialised();
  await place.write({ 'disk/a': 'x' });
  const disk = join(place.source, 'disk');
  await place.expectRun(['backup', disk]);
  const { stdout, stderr } = await place.expectRun(['backup', '--json', '-e', '*', disk]);
  expect(stderr).toContain('the rules exclude everything');
  expect(stderr).not.toContain('is empty now');
  expect(jsonLines({ stdout }).at(-1)).toMatchObject({ sources_emptied: [], sources_left_out: [disk] });
});

test.skipIf(process.platform === 'win32')(
  'whoever names a pipe as a source learns that nothing is read from it, and how it would be',
  async () => {
    await using place = await openInitialised();
    const pipe = join(place.source, 'pipe');
    await mkdir(place.source, { recursive: true });
    execFileSync('mkfifo', [pipe]);
    const { stderr } = await place.expectRun(['backup', pipe]);
    expect(stderr).toContain(`Note: ${pipe} is a pipe: only its name, owner and mode are backed up`);
    expect(stderr).toContain(`backup --stdin-name pipe < ${pipe}`);
    // In a directory it is one entry of many, and nobody means what comes out of it.
    expect((await place.expectRun(['backup', place.source])).stderr).not.toContain('is a pipe');
  },
);

test.concurrent('files are found, followed through their versions, compared and read', async () => {
  await using place = await openInitialised();
  const file = join(place.source, 'notes.txt');
  await place.write({ 'notes.txt': 'one', gone: 'x' });
  const first = await idOfBackup(place);
  await writeFile(file, 'number two');
  await rm(join(place.source, 'gone'));
  const second = await idOfBackup(place);

  expect((await place.expectRun(['cat', first, file])).stdout).toBe('one');
  expect((await place.expectRun(['cat', 'latest', file])).stdout).toBe('number two');
  const found = jsonLines(await place.expectRun(['find', 'NOTES*', '-i', '--json']));
  expect(found.map((one) => one['snapshot_id'])).toEqual([first, second]);
  const versions = jsonLines(await place.expectRun(['versions', file, '--json']));
  expect(versions.map((one) => one['last_snapshot_id'])).toEqual([second, first]);
  const changes = await place.expectRun(['diff', first, second]);
  expect(changes.stdout).toContain(`M  ${file}  (3 B -> 10 B)\n`);
  expect(changes.stdout).toContain(`-  ${join(place.source, 'gone')}  (1 B)\n`);
  const snapshots = jsonLines(await place.expectRun(['snapshots', '--json']));
  expect(snapshots.map((one) => one['id'])).toEqual([first, second]);
});

test.concurrent('one directory is restored by its contents, single paths by name, and a dry run only says so', async () => {
  await using place = await openInitialised();
  await place.write({ 'docs/a': 'a', 'docs/b': 'b', 'other/c': 'c' });
  await place.expectRun(['backup', place.source]);
  const target = join(place.directory, 'docs');
  const docs = join(place.source, 'docs');
  const dry = await place.expectRun(['restore', `latest:${docs}`, '--target', target, '--dry-run']);
  expect(dry.stdout).toContain('Would restore 2 files');
  await expect(lstat(target)).rejects.toMatchObject({ code: 'ENOENT' });
  await place.expectRun(['restore', `latest:${docs}`, '--target', target]);
  expect(await readFile(join(target, 'a'), 'utf8')).toBe('a');

  await rm(join(place.source, 'other'), { recursive: true });
  await writeFile(join(docs, 'a'), 'changed since');
  await place.expectRun(['restore', 'latest', join(place.source, 'other'), '--in-place']);
  expect(await readFile(join(place.source, 'other', 'c'), 'utf8')).toBe('c');
  expect(await readFile(join(docs, 'a'), 'utf8')).toBe('changed since');
});

test.concurrent('a restore that deletes what is extra spares the repository and the state directory in its way', async () => {
  await using place = await openPlace();
  const repository = join(place.source, 'backups', 'repository');
  const state = join(place.source, '.local', 'state');
  const env = { HOLDFAST_REPOSITORY: repository, HOLDFAST_STATE_DIR: state };
  const run = async (...words: readonly string[]) => await place.expectRun(words, 0, { env });
  await place.write({ a: 'a', 'backups/list': 'b' });
  await run('init');
  await run('backup', place.source);
  await place.write({ extra: 'x', 'backups/extra': 'x', 'backups/second/config/1': 'of another repository' });
  await run('config', 'set', 'destinations.second.url', join(place.source, 'backups', 'second'));
  await run('restore', 'latest', '--in-place', '--overwrite', 'if-changed', '--delete-extra');
  expect((await lstat(join(place.source, 'backups', 'second', 'config', '1'))).isFile()).toBe(true);
  await expect(lstat(join(place.source, 'extra'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(lstat(join(place.source, 'backups', 'extra'))).rejects.toMatchObject({ code: 'ENOENT' });
  expect((await lstat(state)).isDirectory()).toBe(true);

  // the whole of the source at another place, which the repository lies in as well
  const words = ['restore', `latest:${join(place.source, 'backups')}`, '--delete-extra'];
  await run(...words, '--target', place.source);
  await run('check', '--quiet');
  for (const target of [repository, join(repository, 'packs'), join(state, 'new')]) {
    const refused = await place.expectRun(['restore', 'latest', '--target', target], 2, { env });
    expect(refused.stderr).toContain(', or in it');
    expect(refused.stderr).toContain('Choose another directory.');
  }
});

test.concurrent('what is deleted below a target is listed by its path there, and so is what is planned and left out', async () => {
  await using place = await openInitialised();
  await place.write({ 'docs/a': 'a' });
  await place.expectRun(['backup', place.source]);
  const target = join(place.directory, 'back');
  await mkdir(join(target, 'home'), { recursive: true });
  await writeFile(join(target, 'home', 'x'), 'x');
  const words = ['restore', `latest:${join(place.source, 'docs')}`, '--target', target, '--delete-extra'];
  const home = join(target, 'home');
  const dry = await place.expectRun([...words, '--dry-run']);
  expect(dry.stdout).toContain(`delete   ${home}\n`);
  expect(dry.stdout).toContain(`create   ${join(target, 'a')}\n`);
  expect(dry.stdout).toContain(`Would delete 1 extra entry:\n    ${home}\n`);
  const dryJson = jsonLines(await place.expectRun([...words, '--dry-run', '--json']));
  expect(dryJson).toContainEqual({ type: 'planned', action: 'delete', path: home });
  expect(dryJson.at(-1)).toMatchObject({ deleted: [home] });
  const kept = await place.expectRun([...words, '--exclude', '/home/x']);
  expect(kept.stdout).toContain(`deletion of extra files of 1 entry, e.g. ${home}`);
  const done = await place.expectRun(words);
  expect(done.stdout).toContain(`Deleted 1 extra entry:\n    ${home}\n`);
});

test.concurrent('restore the contents of one directory go back to where they were in place', async () => {
  await using place = await openInitialised();
  await place.write({ 'docs/a': 'a', 'docs/deep/b': 'b', other: 'c' });
  await place.expectRun(['backup', place.source]);
  const docs = join(place.source, 'docs');
  await rm(docs, { recursive: true });
  await place.write({ 'docs/extra': 'x', extra: 'x' });
  const words = ['restore', `latest:${docs}`, '--in-place', '--delete-extra', '--json'];
  const planned = jsonLines(await place.expectRun([...words, '--dry-run', '--exclude', '/a']));
  expect(planned.at(-1)).toMatchObject({ files_restored: 1, deleted: [join(docs, 'extra')] });
});

test.concurrent('a path outside of the one directory that is restored is refused', async () => {
  await using place = await openInitialised();
  await place.write({ 'docs/a': 'a', other: 'c' });
  await place.expectRun(['backup', place.source]);
  const target = join(place.directory, 'target');
  const name = `latest:${join(place.source, 'docs')}`;
  const refused = await place.expectRun(
    ['restore', name, join(place.source, 'other'), '--target', target],
    2,
  );
  expect(refused.stderr).toContain(`${join(place.source, 'other')} is not in `);
});

test.concurrent('forget by rules previews, keeps pinned snapshots, and prune frees what nothing needs', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'first version' });
  await place.expectRun(['backup', place.source, '--pin', '--tag', 'base']);
  await place.write({ a: Buffer.alloc(200_000, 'middle') });
  const middle = await idOfBackup(place);
  await place.write({ a: 'last version' });
  const last = await idOfBackup(place);

  const preview = await place.expectRun(['forget', '--keep-last', '1', '--dry-run']);
  expect(preview.stdout).toMatch(/keep +[0-9a-f]{8} .* last 1\n/);
  expect(preview.stdout).toMatch(/keep +[0-9a-f]{8} .* base +pinned\n/);
  expect(preview.stdout).toContain('1 snapshot would be removed. 2 stay.');
  const plan = jsonLines(await place.expectRun(['forget', '--keep-last', '1', '--json']))[0];
  expect(plan).toMatchObject({ type: 'forget', dry_run: false, remove: [middle] });
  expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toHaveLength(2);
  await place.expectRun(['config', 'set', 'timeZone', 'Pacific/Auckland']);
  const inZone = await place.expectRun(['forget', '--keep-daily', '7', '--dry-run', '--json']);
  expect(jsonLines(inZone)[0]).toMatchObject({ time_zone: 'Pacific/Auckland', remove: [] });

  const refused = await place.run(['prune', '--grace', '0']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--no-other-writers') });
  const pruned = await place.expectRun(['prune', '--grace', '0', '--no-other-writers', '--json']);
  expect(jsonLines(pruned).at(-1)).toMatchObject({ type: 'prune', snapshots_removed: 1 });
  expect(jsonLines(pruned).at(-1)?.['packs_removed']).toBeGreaterThan(0);
  await place.expectRun(['check', '--read-data']);
  expect((await place.expectRun(['cat', last, join(place.source, 'a')])).stdout).toBe('last version');
});

test.concurrent('tags are changed under a new id, and a pinned snapshot is not forgotten by name', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'x' });
  const old = await idOfBackup(place, '--tag', 'draft');
  await place.expectRun(['tag', old.slice(0, 8), '--add', 'final', '--remove', 'draft', '--pin']);
  const [snapshot] = jsonLines(await place.expectRun(['snapshots', '--json']));
  expect(snapshot).toMatchObject({ tags: ['final'], pinned: true, original_id: old });
  const refused = await place.run(['forget', 'latest']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is pinned') });
  await place.expectRun(['tag', 'latest', '--unpin']);
  await place.expectRun(['forget', 'latest']);
  expect((await place.expectRun(['snapshots'])).stdout).toBe('There are no snapshots yet.\n');
});

test.concurrent('a tag that says which backup has made a snapshot is nobody’s to give', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'x' });
  await place.expectRun(['backup', place.source]);
  for (const words of [
    ['backup', '--tag', 'mine,job:bkp_1', place.source],
    ['tag', '--add', 'job:bkp_1', 'latest'],
    ['tag', '--set', 'job:bkp_1', 'latest'],
  ]) {
    const { stderr } = await place.expectRun(words, 2);
    expect(stderr).toContain('The tag "job:bkp_1" is reserved');
  }
  expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toEqual([
    expect.objectContaining({ tags: [] }),
  ]);
});

test.concurrent('check says nothing of a mere note when it is to be quiet', async () => {
  await using place = await openInitialised();
  await rm(join(place.repository, 'copies', 'config', '1'));
  expect((await place.expectRun(['check'])).stdout).toContain('note: config/1');
  expect(await place.expectRun(['check', '--quiet'])).toMatchObject({ stdout: '', stderr: '' });
});

test.concurrent('damage is found by check with exit code 1 and named, and recover makes lost indexes anew', async () => {
  await using place = await openInitialised();
  await place.write({ a: Buffer.alloc(100_000, 'abc'), b: 'b' });
  await place.expectRun(['backup', place.source]);
  await rm(join(place.repository, 'index'), { recursive: true });
  const recovered = await place.expectRun(['recover', '--json']);
  expect(jsonLines(recovered)[0]).toMatchObject({ type: 'recover', packs_unreadable: [] });
  await place.expectRun(['check', '--quiet']);

  const packs = join(place.repository, 'packs');
  await rm(packs, { recursive: true });
  await mkdir(packs);
  const damaged = await place.run(['check', '--json']);
  expect(damaged.code).toBe(1);
  expect(jsonLines(damaged).at(-1)).toMatchObject({ type: 'check', status: 'damaged' });
  const said = await place.run(['check']);
  expect(said.stdout).toContain('The repository is damaged.');
});

test.concurrent('nothing is called superfluous while directories cannot be read: their files may need it', async () => {
  await using place = await openInitialised();
  await place.write({ 'd/a': randomBytes(100_000) });
  await place.expectRun(['backup', place.source]);
  const packs = join(place.repository, 'packs');
  const files = (await readdir(packs, { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  );
  for (const { parentPath, name } of files)
    if ((await stat(join(parentPath, name))).size < 100_000) await rm(join(parentPath, name));
  const said = await place.run(['check']);
  expect(said.stdout).toContain('The repository is damaged.');
  expect(said.stdout).not.toContain('frees the space');
});

test.concurrent('plain text after the options of the program does not matter: the repository may stand before the command', async () => {
  await using place = await openInitialised();
  await place.write({ a: 'x' });
  const env = { HOLDFAST_REPOSITORY: undefined };
  await place.expectRun(['-r', place.repository, 'backup', place.source], 0, { env });
  await place.expectRun(['backup', '-r', `file://${place.repository}`, place.source], 0, { env });
  const keys = await place.expectRun(['-r', place.repository, 'keys', 'list'], 0, { env });
  expect(keys.stdout).toMatch(/passphrase .*used now/);
});

test.concurrent('nothing is encrypted or shared when that is asked for, and both kinds restore', async () => {
  await using place = await openInitialised();
  await place.write({ secret: 'plainly visible words' });
  await place.expectRun(['backup', place.source, '--no-encryption', '--compression', 'none']);
  await place.expectRun(['backup', place.source, '--no-deduplication']);
  const snapshots = jsonLines(await place.expectRun(['snapshots', '--json']));
  expect(snapshots.map((one) => [one['encrypted'], one['deduplicated']])).toEqual([
    [false, true],
    [true, false],
  ]);
  for (const name of ['latest', 'latest~1']) {
    const { stdout } = await place.expectRun(['cat', name, join(place.source, 'secret')]);
    expect(stdout).toBe('plainly visible words');
  }
});

test.concurrent('standard input and the output of a command are saved as a file, and of a failed one nothing', async () => {
  await using place = await openInitialised();
  const input = 'INSERT INTO shop;\n'.repeat(1000);
  const saved = await place.expectRun(['backup', '--stdin-name', 'dumps/db.sql', '--json'], 0, { input });
  expect(jsonLines(saved).at(-1)).toMatchObject({ files_total: 1, bytes_total: input.length });
  expect((await place.expectRun(['cat', 'latest', '/dumps/db.sql'])).stdout).toBe(input);

  const words = ['backup', '--stdin-name', 'out', '--stdin-command'];
  await place.expectRun([...words, 'echo "$((20 + 1))"; echo two']);
  expect((await place.expectRun(['cat', 'latest', '/out'])).stdout).toBe('21\ntwo\n');
  await place.expectRun([...words, '--tag', 'direct', '--', 'printf', '%s', '$HOME']);
  expect((await place.expectRun(['cat', 'latest', '/out'])).stdout).toBe('$HOME');

  const failed = await place.run([...words, 'echo half; exit 7']);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 7') });
  expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toHaveLength(3);
});

test.concurrent('tar writes an archive that tar reads', async () => {
  await using place = await openInitialised();
  await place.write({ 'd/a': 'in the archive' });
  await place.expectRun(['backup', place.source]);
  const { bytes } = await place.expectRun(['tar', 'latest', join(place.source, 'd'), '--short']);
  const listed = execFileSync('tar', ['-tf', '-'], { input: bytes, encoding: 'utf8' });
  expect(listed).toBe('d/\nd/a\n');
  expect(execFileSync('tar', ['-xOf', '-', 'd/a'], { input: bytes, encoding: 'utf8' })).toBe(
    'in the archive',
  );
});

test.concurrent('a new repository opens by passphrase and by recovery code, and keys can be added, replaced and removed', async () => {
  await using place = await openPlace();
  const made = jsonLines(await place.expectRun(['init', '--json']))[0];
  const code = String(made?.['recovery_code']);
  expect(code).toMatch(/^([A-Z2-7]{7}-){7}[A-Z2-7]{7}$/);
  await place.expectRun(['snapshots'], 0, { env: { HOLDFAST_PASSWORD: code.toLowerCase() } });

  const file = join(place.directory, 'new-password');
  await writeFile(file, 'another one\n');
  await place.expectRun(['keys', 'passwd', '--new-password-file', file]);
  await place.expectRun(['snapshots'], 12);
  await place.expectRun(['snapshots', '--password-file', file]);
  await place.expectRun(['snapshots', '--password-command', `cat ${file}`]);

  const env = { HOLDFAST_PASSWORD: 'another one' };
  const added = jsonLines(await place.expectRun(['keys', 'add', '--recovery-code', '--json'], 0, { env }))[0];
  await place.expectRun(['keys', 'remove', String(added?.['id']).slice(0, 8)], 0, { env });
  await place.expectRun(['snapshots'], 12, { env: { HOLDFAST_PASSWORD: String(added?.['recovery_code']) } });
  await place.expectRun(['snapshots'], 0, { env: { HOLDFAST_PASSWORD: code } });
});

test.concurrent('a repository made like another one stores the same pieces under the same names', async () => {
  await using place = await openInitialised();
  const other = join(place.directory, 'other');
  await place.expectRun(['init', '-r', other, '--like', place.repository]);
  await place.expectRun(['snapshots', '-r', other]);
  const wrong = await place.run(['init', '-r', join(place.directory, 'third'), '--like', place.repository], {
    env: { HOLDFAST_PASSWORD: 'not that of the other' },
  });
  expect(wrong).toMatchObject({ code: 12, stderr: expect.stringContaining('--like-password-file') });
  await expect(stat(join(place.directory, 'third'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test.concurrent('the passphrase is not handed on to the command that is asked for another one', async () => {
  await using place = await openInitialised();
  const command = `test -z "$HOLDFAST_PASSWORD$HOLDFAST_PASSWORD_FILE" && echo '${PASSPHRASE}'`;
  await place.expectRun(['snapshots', '--password-command', command], 0, {
    env: { HOLDFAST_PASSWORD: 'x', HOLDFAST_PASSWORD_FILE: '/x' },
  });
});

test.concurrent('a file that was deleted before the last backup is named with the snapshot that still has it', async () => {
  await using place = await openInitialised();
  await place.write({ 'plan.odt': 'the plan', 'other.txt': 'other' });
  const had = (await idOfBackup(place)).slice(0, 8);
  const file = join(place.source, 'plan.odt');
  await rm(file);
  await idOfBackup(place);
  const found = (await place.expectRun(['find', 'plan.odt'])).stdout;
  expect(found).toContain('Found 1 version in 2 snapshots. "Snapshots" shows how many contain the version');
  expect(found).toMatch(new RegExp(`${had}\\s+deleted\\s+${file}`));
  expect((await place.expectRun(['find', 'other.txt'])).stdout).not.toContain('deleted');
  await place.write({ 'plan.odt': 'the plan' });
  expect((await place.expectRun(['find', 'plan.odt'])).stdout).toMatch(
    new RegExp(`${had}\\s+left out\\s+${file}`),
  );
  await rm(file);
  const part = (await place.expectRun(['find', 'Plan'])).stdout;
  expect(part).toMatch(/^Nothing found in 2 snapshots\. For part of a name: .*find -i '\*Plan\*'/);
  expect((await place.expectRun(['find', '-i', '*Plan*'])).stdout).toContain(file);
  expect((await place.expectRun(['find', '*.none'])).stdout).toBe('Nothing found in 2 snapshots.\n');
  const back = join(place.directory, 'back');
  const restored = await place.expectRun(['restore', had, file, '--target', back]);
  expect(restored.stdout).toContain(` to ${back}${file} in `);
  const whole = await place.expectRun(['restore', had, '--target', back]);
  expect(whole.stdout).toContain(` to ${back}${place.source} in `);
  const both = await place.expectRun([
    'restore',
    had,
    file,
    join(place.source, 'other.txt'),
    '--target',
    back,
  ]);
  expect(both.stdout).toContain(` to ${back}, with full paths: ${back}${file}, … in `);
  const asked = ['latest', file];
  const options = ['--in-place', '--overwrite', 'if-changed', '--exclude', '*.tmp'];
  const failed = await place.run(['restore', ...asked, ...options]);
  expect(failed.stderr).toMatch(
    new RegExp(`plan\\.odt is not in snapshot .*\\n.*It was last in snapshot ${had} of \\d{4}-`),
  );
  const said = new RegExp(` restore ${had} (\\S+) (--\\S.*)$`, 'm').exec(failed.stderr);
  expect(said?.[1]).toBe(file);
  const words = (said?.[2] ?? '').replaceAll("'", '').split(' ').slice(0, 5);
  expect(words).toEqual(
    expect.arrayContaining(['--in-place', '--overwrite', 'if-changed', '--exclude', '*.tmp']),
  );
  for (const command of ['cat', 'ls'])
    expect((await place.run([command, ...asked])).stderr).toContain(` ${command} ${had} ${file}`);
  await place.expectRun(['restore', had, file, ...words]);
  expect(await readFile(file, 'utf8')).toBe('the plan');

  // What no snapshot has is told as before; and no restore that fails leaves a directory behind.
  const target = join(place.directory, 'made', 'here');
  const never = await place.run(['restore', 'latest', `${file}.never`, '--target', target]);
  expect(never.stderr).toContain(` versions ${file}.never`);
  await expect(stat(join(place.directory, 'made'))).rejects.toMatchObject({ code: 'ENOENT' });
});
