/** What a restore takes for its own, and a restore that is run again after one that was killed. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { unfinishedMark } from '../../src/restorer/target/temporary-names.ts';
import { asByteString } from '../../src/base/byte-path.ts';
import { runOf } from '../../src/restorer/target/temporary-names.ts';
import { openEngine, type Engine } from '../support/engine.ts';
import { DEAD, leaveUnfinished } from '../support/restore-remains.ts';

let engine: Engine;
let root: string;

beforeEach(async () => {
  engine = await openEngine({});
  mkdirSync(join(engine.source, 'd'), { recursive: true });
  for (const name of ['f', 'g', 'd/inside'])
    writeFileSync(join(engine.source, name), `of the snapshot ${name}`);
  root = join(engine.directory, 'out', resolve(engine.source));
  mkdirSync(root, { recursive: true });
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

test.each(['never', 'if_newer'] as const)(
  'with %s no mode and no name makes a file of somebody else one of its own',
  async (overwrite) => {
    const { snapshot } = await engine.backup();
    mkdirSync(join(root, 'd'));
    const mine = [
      'f',
      'g',
      'd/inside',
      '.holdfast-1-1-0123456789ab-7',
      '.holdfast-99999999-1-0123456789ab-7',
    ];
    for (const name of mine) writeFileSync(join(root, name), 'MINE');
    for (const [i, name] of mine.entries()) chmodSync(join(root, name), i % 2 === 0 ? 0o1600 : 0o1200);
    chmodSync(join(root, 'd'), 0o1700);
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite });
    expect(summary).toMatchObject({ status: 'complete', filesSkipped: 3, filesRestored: 0 });
    for (const [i, name] of mine.entries()) {
      chmodSync(join(root, name), statSync(join(root, name)).mode);
      expect(statSync(join(root, name)).mode & 0o7777).toBe(i % 2 === 0 ? 0o1600 : 0o1200);
      chmodSync(join(root, name), 0o600);
      expect(readFileSync(join(root, name), 'utf8'), name).toBe('MINE');
    }
    if (overwrite === 'never') expect(statSync(join(root, 'd')).mode & 0o7777).toBe(0o1700);
  },
);

test('what a restore was killed in the middle of changing is gone on with, and its mark goes', async () => {
  const { snapshot } = await engine.backup();
  writeFileSync(join(root, 'f'), 'half');
  leaveUnfinished(join(root, 'f'));
  writeFileSync(join(root, 'g'), 'MINE');
  chmodSync(join(root, 'g'), 0o1600);
  expect(readdirSync(root)).toHaveLength(3);
  await engine.restoreTo('out', snapshot, { overwrite: 'never' });
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('of the snapshot f');
  expect(lstatSync(join(root, 'f')).mode & 0o7777).toBe(0o644);
  expect(readFileSync(join(root, 'g'), 'utf8')).toBe('MINE');
  expect(readdirSync(root).sort()).toEqual(['d', 'f', 'g']);
});

test('a mark stays while what it says is so, and this restore does not come to it', async () => {
  const { snapshot } = await engine.backup();
  writeFileSync(join(root, 'elsewhere'), 'half');
  leaveUnfinished(join(root, 'elsewhere'));
  await engine.restoreTo('out', snapshot);
  expect(readdirSync(root)).toHaveLength(5);
  chmodSync(join(root, 'elsewhere'), 0o644);
  await engine.restoreTo('out', snapshot);
  expect(readdirSync(root).sort()).toEqual(['d', 'elsewhere', 'f', 'g']);
});

test('a directory that a killed restore made gets its permissions whatever the mode', async () => {
  chmodSync(join(engine.source, 'd'), 0o2750);
  const { snapshot } = await engine.backup();
  mkdirSync(join(root, 'd'), { mode: 0o700 });
  chmodSync(join(root, 'd'), 0o1700);
  const run = runOf(`${DEAD.pid}-1-0123456789ab`);
  writeFileSync(join(root, unfinishedMark(run, 1, asByteString('d'))), '');
  await engine.restoreTo('out', snapshot, { overwrite: 'never' });
  expect(statSync(join(root, 'd')).mode & 0o750).toBe(0o750);
  expect(statSync(join(root, 'd')).mode & 0o1000).toBe(0);
  expect(existsSync(join(root, 'd/inside'))).toBe(true);
  expect(readdirSync(root).sort()).toEqual(['d', 'f', 'g']);
});
