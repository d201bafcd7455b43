/** Holds check, restore and recover to what they promise about one damage. */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ByteString } from '../../src/base/byte-path.ts';
import { HoldfastError } from '../../src/base/errors.ts';
import { SILENT_CHECK, type CheckReport, type Finding } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { recover } from '../../src/repository/check/recover.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { compareTrees, type Difference } from '../support/compare-trees.ts';
import { removeTree } from '../support/remove-tree.ts';
import { openSite, type Origin, type Site } from './damage-site.ts';
import { shownDamage, type Damage } from './damage.ts';
import type { Place } from './program.ts';
import type { Workspace } from './workspace.ts';

const never = new AbortController().signal;

/** How a damage has to be noticed. */
export type Detection =
  /** The report of check names the object. */
  | 'found'
  /** Nothing is promised: the object's absence looks like an earlier, sound state. */
  | 'none promised';

export interface Verdict {
  readonly detection: Detection;
  /** Files and directories that could not be restored, by snapshot. */
  readonly lost: LostPaths;
}

export type LostPaths = ReadonlyMap<string, readonly string[]>;

/** Judges a damaged copy of the site in this process: it opens, whatever is damaged. */
export async function judge(
  workspace: Workspace,
  site: Site,
  place: Place,
  damage: Damage,
  keys: readonly string[],
  restores: 'always' | 'where data is struck',
): Promise<Verdict> {
  // By the passphrase whose slot is struck as well.
  const opened = await openSite(place);
  try {
    const report = await check(opened, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
    const detection = expectFound(report, site, damage, keys);
    const struck = /pack|index|snapshot/.test(damage.object.kind);
    if (restores !== 'always' && !struck) return { detection, lost: new Map() };
    return { detection, lost: await expectRestores(workspace, opened, site, damage, report) };
  } finally {
    await opened.close();
  }
}

/** What stands for an object in messages: its key, or the name that ends it. */
export function nameIn(key: string): string {
  return /^(packs|index|snapshots|trash)\//.test(key) ? key.slice(key.lastIndexOf('/') + 1) : key;
}

/** The objects that findings must name: one of each list. Empty: nothing is promised. */
export function wantedFindings(
  site: Site,
  damage: Damage,
  keys: readonly string[],
): readonly (readonly string[])[] {
  if (damage.action === 'missing') {
    const missing = wantedForMissing(site, damage);
    return missing === undefined ? [] : [[missing]];
  }
  // A copy of what is not there is no copy.
  if (damage.object.kind === 'second copy' && damage.action === 'foreign extra') return [];
  return keys.map((key) => {
    const name = nameIn(key);
    switch (key.slice(0, key.indexOf('/'))) {
      case 'packs':
        return [`pack ${name}`];
      case 'index':
        return [`index object ${name}`];
      case 'snapshots':
        return [`snapshot ${name}`];
      case 'trash':
        return [`tombstone ${name}`];
      default:
        return [key];
    }
  });
}

function wantedForMissing(site: Site, { object: { kind, key } }: Damage): string | undefined {
  const name = nameIn(key);
  switch (kind) {
    case 'lease':
      // A lease that is gone is a process that ended.
      return undefined;
    case 'head': {
      // The record is the commit. The newest head is missed, older ones are trimmed one day anyway.
      const writer = key.slice(0, key.lastIndexOf('/'));
      const newest = site.objects.filter((one) => one.key.startsWith(`${writer}/`)).at(-1);
      return newest?.key === key ? writer : undefined;
    }
    case 'index':
      // A cache: the packs themselves are read, which check remarks upon.
      return 'index/';
    case 'snapshot':
      // Of a forgotten one nothing but its tombstone has to be there.
      return site.snapshots.has(name) ? `record ${name}` : undefined;
    case 'tombstone':
      return `record ${name}`;
    case 'key slot':
    case 'ring':
    case 'config':
      return key;
    case 'second copy':
      return key.slice('copies/'.length);
    default:
      return `pack ${name}`;
  }
}

function expectFound(report: CheckReport, site: Site, damage: Damage, keys: readonly string[]): Detection {
  const wanted = wantedFindings(site, damage, keys);
  const shown = `${shownDamage(damage)}\n${report.findings.map(shownFinding).join('\n')}`;
  for (const objects of wanted) {
    const found = report.findings.find(({ object }) => objects.includes(object));
    expect(found, shown).toBeDefined();
    expect(found?.severity, shown).toBe(expectedSeverity(site, damage));
  }
  if (wanted.length > 0) return 'found';
  expect(report.status, shown).toBe('ok');
  return 'none promised';
}

function shownFinding({ severity, object, what, snapshots, files }: Finding): string {
  return `${severity} ${object}: ${what} (${snapshots.length} snapshots; ${files.slice(0, 5).join(', ')})`;
}

/** Absence is an error only where something is lost by it. */
function expectedSeverity(site: Site, { action, object: { kind, key } }: Damage): Finding['severity'] {
  if (kind === 'second copy') return action === 'missing' ? 'note' : 'warning';
  if (action !== 'missing') return 'error';
  if (kind === 'index') return 'note';
  const isOlder = site.objects.some((one) => one.kind === kind && one.key > key);
  // The number of the lowest may have been that of an init that was broken off.
  const isLowest = site.objects.every((one) => one.kind !== kind || one.key >= key);
  if (kind === 'config' && isOlder && isLowest) return 'note';
  const lossless = kind === 'head' || ((kind === 'ring' || kind === 'config') && isOlder);
  return lossless || (key.startsWith('packs/') && !site.neededPacks.has(key)) ? 'warning' : 'error';
}

/**
 * Restores every live snapshot that can be read. What the restore lists as lost is what check has listed, it is what
 * differs from the original, and everything else is the same. Returns what is lost.
 */
async function expectRestores(
  workspace: Workspace,
  repository: Repository,
  site: Site,
  damage: Damage | undefined,
  report: CheckReport,
): Promise<LostPaths> {
  const { live } = await listSnapshots(repository, never);
  const known = live.filter(({ id }) => site.snapshots.has(id));
  const unreadable = [...site.snapshots.keys()].filter((id) => !known.some((one) => one.id === id));
  for (const id of unreadable)
    expect(damage?.object.key.endsWith(id) || damage?.other?.key.endsWith(id)).toBe(true);
  const lost = new Map<string, readonly string[]>();
  for (const snapshot of known) {
    lost.set(snapshot.id, await expectOneRestores(workspace, repository, site, snapshot, damage));
  }
  const affected = [
    ...unreadable.filter((id) => mentions(report, id)),
    ...[...lost].filter(([, paths]) => paths.length > 0).map(([id]) => id),
  ];
  const told = report.findings.filter(({ severity }) => severity === 'error');
  const files = new Set(told.flatMap((finding) => finding.files.map(String)));
  const forgotten = (id: string): boolean => !site.snapshots.has(id);
  const snapshots = new Set(told.flatMap((finding) => finding.snapshots).filter((id) => !forgotten(id)));
  expect([...files].sort(), shownDamage(damage)).toEqual([...new Set([...lost.values()].flat())].sort());
  expect([...snapshots].sort(), shownDamage(damage)).toEqual(affected.sort());
  return lost;
}

function mentions(report: CheckReport, id: string): boolean {
  return report.findings.some(({ snapshots }) => snapshots.includes(id));
}

/** Returns the paths that the restore of one snapshot listed as lost. */
async function expectOneRestores(
  workspace: Workspace,
  repository: Repository,
  site: Site,
  snapshot: Snapshot,
  damage: Damage | undefined,
): Promise<readonly string[]> {
  const origin = site.snapshots.get(snapshot.id);
  if (origin === undefined) throw new Error(`snapshot ${snapshot.id} is not one of the site's`);
  const target = workspace.fresh();
  try {
    const lost = await restoreAll(repository, snapshot, target);
    expectOnlyLost(origin, target, lost, shownDamage(damage));
    return lost;
  } finally {
    removeTree(target);
  }
}

const METADATA: ReadonlySet<Difference['aspect']> = new Set(['mode', 'owner', 'mtime', 'xattr']);

/**
 * What was restored below `target` is the original but for the paths listed as lost, and those do miss something; of
 * those listed as omitted the metadata may differ.
 */
export function expectOnlyLost(
  origin: Origin,
  target: string,
  lost: readonly string[],
  what: string,
  omitted: readonly string[] = [],
): void {
  const restored = join(target, origin.source);
  // Not even the directories on the way may have been restored.
  if (lost.length > 0) mkdirSync(restored, { recursive: true });
  const differing = compareTrees(origin.tree, restored, { roots: lost.length === 0 });
  const inside = lost.map((path) => below(path, origin.source));
  // All names of an inode have its metadata.
  const inodes = new Set(omitted.map((path) => inodeOf(join(origin.tree, below(path, origin.source)))));
  const explained = ({ path, aspect }: Difference): boolean =>
    inside.some((one) => path === one || one === '' || path.startsWith(`${one}/`)) ||
    (METADATA.has(aspect) && inodes.has(inodeOf(join(origin.tree, path))));
  expect(
    differing.filter((one) => !explained(one)),
    what,
  ).toEqual([]);
  for (const path of inside) {
    const missed =
      path === '' ||
      isEmptyDirectory(join(origin.tree, path)) ||
      differing.some((one) => one.path === path || one.path.startsWith(`${path}/`));
    expect(missed, `${what}: ${path} was listed as lost and is there`).toBe(true);
  }
}

/** Undefined for what is not there. */
function inodeOf(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

function isEmptyDirectory(path: string): boolean {
  return lstatSync(path).isDirectory() && readdirSync(path).length === 0;
}

function below(path: string, source: string): string {
  return path === source ? '' : path.startsWith(`${source}/`) ? path.slice(source.length + 1) : '';
}

async function restoreAll(
  repository: Repository,
  snapshot: Snapshot,
  target: string,
): Promise<readonly string[]> {
  const request = {
    repository,
    snapshot,
    target: { kind: 'directory', path: target } as const,
    paths: new Array<ByteString>(),
    never: [],
    include: [],
    exclude: [],
    overwrite: 'never' as const,
    deleteExtra: false,
    dryRun: false,
    verify: true,
    restoreOwnership: false,
    ownersByName: false,
    workers: 1,
  };
  try {
    const { errors, status } = await restore(request, SILENT_RESTORE, never);
    expect(status).toBe(errors.length === 0 ? 'complete' : 'partial');
    return errors.map(({ path }) => path);
  } catch (error) {
    // The root itself: nothing can be restored, which is told instead of a list.
    if (error instanceof HoldfastError && error.code === 'CORRUPT_DATA') return ['/'];
    throw error;
  }
}

/** Everything that was struck is there once more. */
function hasSecondCopy({ objects }: Site, keys: readonly string[]): boolean {
  const isCopied = (key: string): boolean => objects.some((one) => one.key === `copies/${key}`);
  return keys.every((key) => key.startsWith('copies/') || isCopied(key));
}

/** After recover the index is whole whatever was damaged, and nothing more is lost than before. */
export async function expectRecovers(
  workspace: Workspace,
  site: Site,
  place: Place,
  damage: Damage,
  keys: readonly string[],
): Promise<void> {
  const opened = await openSite(place);
  try {
    const before = await check(opened, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
    await recover(opened, never);
    const after = await check(opened, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
    const lost = (report: CheckReport): readonly string[] =>
      [...new Set(report.findings.flatMap(({ files }) => files.map(String)))].sort();
    // It may be less: two packs that have changed places are read again, each by the other's name.
    expect(lost(before), shownDamage(damage)).toEqual(expect.arrayContaining([...lost(after)]));
    // Nothing is deleted: an index object that cannot be read stays, with nothing left that depends on it.
    const indexFindings = after.findings.filter(({ object }) => object.startsWith('index'));
    const still = indexFindings.filter(({ object }) => !keys.some((key) => object.endsWith(nameIn(key))));
    expect(still, shownDamage(damage)).toEqual([]);
    if (hasSecondCopy(site, keys))
      expect(after.findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
    await expectRestores(workspace, opened, site, damage, after);
  } finally {
    await opened.close();
  }
}

/**
 * With no index object left the packs' own directories serve, and recover writes the index anew. Returns how many packs
 * it could not index, because their directories are what was damaged.
 */
export async function expectAllIndexesRebuilt(
  workspace: Workspace,
  site: Site,
  place: Place,
  damage: Damage | undefined,
  keys: readonly string[],
): Promise<number> {
  const repository = await openSite(place);
  try {
    const before = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
    const report = await recover(repository, never);
    expect(report.keptFromIndex).toEqual([]);
    const damagedPacks = keys.map(nameIn);
    for (const { name } of report.unreadable) expect(damagedPacks).toContain(name);
    const after = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
    if (damage === undefined) expect(after.findings).toEqual([]);
    const errors = ({ findings }: CheckReport): readonly string[] =>
      findings
        .filter(({ severity }) => severity === 'error')
        .map(({ object, files }) => `${object} ${files.join()}`);
    expect(errors(after).toSorted()).toEqual(errors(before).toSorted());
    await expectRestores(workspace, repository, site, damage, after);
    return report.unreadable.length;
  } finally {
    await repository.close();
  }
}
