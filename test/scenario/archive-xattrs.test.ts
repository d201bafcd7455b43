/** Extended attributes that not every run can see or read: nothing about an entry changes when it is another's turn. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { asByteString, bytesOfText } from '../../src/base/byte-path.ts';
import type { Omission } from '../../src/format/omission.ts';
import type { OnUnreadable, Xattr, XattrTarget } from '../../src/system/xattr.ts';
import { omissions, openEngine, type Engine } from '../support/engine.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

/** What every entry has, and whether this run can list and read it. */
const disk: { listed: readonly string[]; refused: readonly string[] } = { listed: [], refused: [] };

vi.mock('../../src/system/xattr.ts', async (original) => ({
  ...(await original()),
  readXattrs: (_: XattrTarget, onUnreadable: OnUnreadable): Xattr[] => {
    for (const name of disk.refused)
      onUnreadable(asByteString(name), Object.assign(new Error('planned'), { code: 'EACCES' }));
    return disk.listed.map((name) => ({ name: asByteString(name), value: Buffer.from(`of ${name}`) }));
  },
}));

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  Object.assign(disk, { listed: [], refused: [] });
  engine = await openEngine();
  mkdirSync(at('directory'));
  writeFileSync(at('directory/file'), 'content');
  await delay(40);
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

interface Seen {
  readonly bytesRead: number;
  readonly unchanged: number;
  readonly omitted: readonly Omission[];
  /** Names of attributes. */
  readonly ofFile: readonly string[];
  readonly ofDirectory: readonly string[];
}

async function backup(overrides: Partial<ArchiveRequest>): Promise<Seen> {
  const { snapshot, bytesRead } = await engine.backup(undefined, overrides);
  const { counts, omitted } = snapshot.record;
  const tree = await engine.treeOf(snapshot);
  const namesOf = (path: string): readonly string[] =>
    tree.get(bytesOfText(at(path)))?.xattrs?.map(({ name }) => name) ?? [];
  return {
    bytesRead,
    unchanged: counts.unchanged,
    omitted,
    ofFile: namesOf('directory/file'),
    ofDirectory: namesOf('directory'),
  };
}

test('what the user of the last snapshot did not see is added, and what he saw alone is kept', async () => {
  disk.listed = ['user.b'];
  const first = await backup({ user: 'alice' });
  expect(first).toMatchObject({ ofFile: ['user.b'], ofDirectory: ['user.b'] });
  disk.listed = ['trusted.t', 'user.b'];
  const both = { ofFile: ['trusted.t', 'user.b'], ofDirectory: ['trusted.t', 'user.b'] };
  expect(await backup({ user: 'root' })).toMatchObject({ ...both, bytesRead: 0, unchanged: 1 });
  disk.listed = ['user.b'];
  expect(await backup({ user: 'alice' })).toMatchObject({ ...both, bytesRead: 0, unchanged: 1 });
});

test('changes alone are not enough to look at when another user made the last snapshot', async () => {
  const { snapshot } = await engine.backup(undefined, { user: 'alice' });
  disk.listed = ['trusted.t'];
  const changes = {
    parent: { snapshot: snapshot.id },
    changes: { directories: new Set<never>(), hiddenRules: false },
  };
  expect(await backup({ user: 'alice', ...changes })).toMatchObject({ ofFile: [] });
  expect(await backup({ user: 'root', ...changes })).toMatchObject({ ofFile: ['trusted.t'] });
});

test('what cannot be read is told of every snapshot that lacks it, and is added once it can be', async () => {
  const { length: entries } = [...(await engine.treeOf((await engine.backup()).snapshot)).keys()];
  disk.refused = ['user.locked'];
  const locked = {
    code: 'xattr',
    name: asByteString('user.locked'),
    reason: 'EACCES',
    count: entries,
  } as const;
  const lacking = { omitted: omissions(locked), ofFile: [] };
  expect(await backup({ parent: 'none' })).toMatchObject(lacking);
  expect(await backup({})).toMatchObject({ ...lacking, bytesRead: 0, unchanged: 1 });
  for (const directories of [[], [bytesOfText(at('directory'))]])
    expect(
      await backup({ changes: { directories: new Set(directories), hiddenRules: false } }),
    ).toMatchObject(lacking);
  disk.refused = [];
  disk.listed = ['user.locked'];
  expect(await backup({})).toMatchObject({
    omitted: omissions(),
    ofFile: ['user.locked'],
    ofDirectory: ['user.locked'],
    bytesRead: 0,
  });
  disk.refused = ['user.locked'];
  disk.listed = [];
  expect(await backup({ user: 'alice' })).toMatchObject({ ofFile: ['user.locked'] });
});
