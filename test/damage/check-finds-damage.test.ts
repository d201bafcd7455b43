// Turn 7 of 8.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SILENT_CHECK, type CheckReport, type Finding } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { readSnapshot } from '../../src/repository/snapshots.ts';
import {
  DAMAGE_KINDS,
  damage,
  openObjects,
  sampleRepository,
  typeOf,
  type Damaged,
  type Objects,
  type SampleRepository,
} from '../support/damaged-repository.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { filesOf, lostFiles } from '../support/tiny-archiver.ts';

/**
 * How often every kind of damage is done to every object, each time in another place; without it, to every second
 * object only, to be quick. Three rounds are more than 700 damages.
 */
const THOROUGH = process.env['HOLDFAST_DAMAGE_ROUNDS'] !== undefined;
const ROUNDS = Number(process.env['HOLDFAST_DAMAGE_ROUNDS'] ?? 1);
const SEED = Number(process.env['HOLDFAST_DAMAGE_SEED'] ?? 1);

const { signal } = new AbortController();
const random = seededRandom(SEED);
let directory: string;
let sample: SampleRepository;
let foreign: Objects;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-damage-'));
  sample = await sampleRepository(random, join(directory, 'own'), signal);
  ({ objects: foreign } = await sampleRepository(random, join(directory, 'foreign'), signal));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

/** What a check of damaged objects says: whatever is damaged, it opens. */
async function examine(
  damaged: Objects,
  remembering = false,
): Promise<{ report: CheckReport; repository: Repository }> {
  const repository = await openObjects(sample, damaged, { remembering }, signal);
  const report = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  return { report, repository };
}

/** Objects as findings name them. */
function namesOf(key: string): string[] {
  const name = key.slice(key.lastIndexOf('/') + 1);
  switch (typeOf(key)) {
    case 'packs':
      return [`pack ${name}`];
    case 'index':
      return [`index object ${name}`];
    case 'snapshots':
      return [`snapshot ${name}`, `record ${name}`];
    case 'trash':
      return [`tombstone ${name}`, `record ${name}`];
    case 'copies':
      return [key, key.slice('copies/'.length)];
    default:
      return [key];
  }
}

/** Live snapshots with the files in them that do not come back. */
async function lostIn(repository: Repository): Promise<Map<string, string[]>> {
  const lost = new Map<string, string[]>();
  const index = await loadIndex(repository, { without: new Set() }, signal);
  for (const [id, tree] of sample.snapshots) {
    const snapshot = await readSnapshot(repository, id, signal).catch(() => undefined);
    const all = filesOf(tree).map(({ path }) => `/${path.join('/')}`);
    const paths = snapshot === undefined ? all : await lostFiles(repository, snapshot, tree, signal, index);
    if (paths.length > 0) lost.set(id, paths);
  }
  return lost;
}

function covers(finding: Finding, snapshot: string, path: string): boolean {
  if (!finding.snapshots.includes(snapshot)) return false;
  if (finding.object === `snapshot ${snapshot}`) return true;
  return finding.files.some((file) => file === '/' || file === path || path.startsWith(`${file}/`));
}

/** Every file that is lost is named, and every file that is named is lost. */
function expectFilesNamed(
  report: CheckReport,
  lost: ReadonlyMap<string, readonly string[]>,
  what: string,
): void {
  const errors = report.findings.filter(({ severity }) => severity === 'error');
  for (const [id, paths] of lost) {
    for (const path of paths) {
      const named = errors.some((finding) => covers(finding, id, path) || finding.object === `record ${id}`);
      expect(named, `${what}: ${path} of ${id} is lost and not named`).toBe(true);
    }
  }
  for (const finding of errors) {
    for (const file of finding.files) {
      const isLost = finding.snapshots.some((id) =>
        (lost.get(id) ?? []).some((path) => file === '/' || path === file || path.startsWith(`${file}/`)),
      );
      // A directory that is gone and empty loses no file.
      expect(isLost || report.counts.files === 0, `${what}: ${file} is named and not lost`).toBe(true);
    }
  }
}

async function expectFound(damaged: Damaged, remembering: boolean): Promise<void> {
  const { report, repository } = await examine(damaged.objects, remembering);
  // Of what lies there twice the first copy serves.
  const isCopy = damaged.keys.every((key) => typeOf(key) === 'copies');
  expect(report.status, damaged.description).toBe(isCopy ? 'ok' : 'damaged');
  const told = report.findings.filter(({ severity }) => severity === (isCopy ? 'warning' : 'error'));
  const wrong = told.map(({ object }) => object);
  for (const key of damaged.keys) {
    const named = namesOf(key).some((name) => wrong.includes(name));
    expect(named, `${damaged.description}: found ${wrong.join(', ')}`).toBe(true);
  }
  expectFilesNamed(report, await lostIn(repository), damaged.description);
}

describe('check with read data', () => {
  it('finds nothing in the repository that is about to be damaged', async () => {
    const result = await examine(sample.objects);
    expect(result.report.findings).toEqual([]);
    expect(await lostIn(result.repository)).toEqual(new Map());
    const types = new Set([...sample.objects.keys()].map(typeOf));
    expect([...types].sort()).toEqual(
      ['config', 'copies', 'heads', 'index', 'keys', 'leases', 'packs', 'ring', 'snapshots', 'trash'].sort(),
    );
  });

  for (const [nth, kind] of DAMAGE_KINDS.filter((one) => one !== 'missing').entries()) {
    it(`finds and names every object that suffers: ${kind}`, async () => {
      let done = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [i, key] of [...sample.objects.keys()].entries()) {
          const skipped = !THOROUGH && (i + nth) % 2 === 1;
          const damaged = skipped ? undefined : damage(sample.objects, key, kind, foreign, random);
          if (damaged === undefined) continue;
          await expectFound(damaged, false);
          done += 1;
        }
      }
      expect(done).toBeGreaterThan(15 * ROUNDS);
    });
  }

  it('finds objects that are gone', async () => {
    const counted = new Map<string, number>();
    for (const key of sample.objects.keys()) {
      const type = typeOf(key);
      // A lease may end at any time, index objects and heads are made anew, and forgotten snapshots are removed.
      if (type === 'leases' || type === 'index' || type === 'heads') continue;
      if (type === 'snapshots' && !sample.snapshots.has(key.slice('snapshots/'.length))) continue;
      const damaged = damage(sample.objects, key, 'missing', foreign, random);
      if (damaged === undefined) continue;
      const result = await examine(damaged.objects, true);
      counted.set(type, (counted.get(type) ?? 0) + 1);
      const objects = result.report.findings.map(({ object }) => object);
      expect(
        namesOf(key).some((name) => objects.includes(name)),
        `${damaged.description}: ${objects.join()}`,
      ).toBe(true);
      expectFilesNamed(result.report, await lostIn(result.repository), damaged.description);
    }
    expect([...counted.keys()].sort()).toEqual([
      'config',
      'copies',
      'keys',
      'packs',
      'ring',
      'snapshots',
      'trash',
    ]);
  });

  it('finds objects of another repository that were added', async () => {
    for (const [key, bytes] of foreign) {
      // A copy of what is not there is none.
      if (/^(config|copies|keys\/|leases\/prune)/.test(key) || sample.objects.has(key)) continue;
      await expectFound(
        { objects: new Map([...sample.objects, [key, bytes]]), keys: [key], description: `added ${key}` },
        false,
      );
    }
  });

  it('says of a key slot of another repository that it opens nothing', async () => {
    const key = [...foreign.keys()].find((one) => /^keys\/[0-9a-f]/.test(one)) ?? '';
    const bytes = foreign.get(key) ?? Buffer.alloc(0);
    const { report } = await examine(new Map([...sample.objects, [key, bytes]]));
    expect(report).toMatchObject({ status: 'ok', findings: [{ severity: 'warning', object: key }] });
  });

  it('says when index objects and newest heads are gone, which loses nothing', async () => {
    const without = (prefix: string): Objects =>
      new Map([...sample.objects].filter(([key]) => !key.startsWith(prefix)));
    const noIndex = await examine(without('index/'));
    expect(noIndex.report).toMatchObject({
      status: 'ok',
      findings: [{ severity: 'note', object: 'index/' }],
    });
    expect(await lostIn(noIndex.repository)).toEqual(new Map());
    const noHeads = await examine(without('heads/'));
    expect(noHeads.report).toMatchObject({ status: 'ok', findings: [{ severity: 'warning' }] });
  });

  it('finds every way of putting the repository back by some snapshots, with memory of it', async () => {
    const records = [...sample.snapshots.keys()];
    for (let kept = 0; kept < records.length; kept += 1) {
      const gone = new Set(records.slice(kept).map((id) => `snapshots/${id}`));
      const result = await examine(new Map([...sample.objects].filter(([key]) => !gone.has(key))), true);
      expect(result.report.status, `${kept} of ${records.length} left`).toBe('damaged');
    }
  });

  it('finds damage together with its neighbours', async () => {
    const packs = [...sample.objects.keys()].filter((key) => key.startsWith('packs/'));
    for (let i = 0; i < 10 * ROUNDS; i += 1) {
      let objects: Objects = sample.objects;
      const keys: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const key = packs[random.below(packs.length)] ?? '';
        const kind = DAMAGE_KINDS[random.below(4)] ?? 'flip';
        const damaged = damage(objects, key, kind, foreign, random);
        if (damaged === undefined || keys.includes(key)) continue;
        ({ objects } = damaged);
        keys.push(key);
      }
      await expectFound({ objects, keys, description: `several: ${keys.join(', ')}` }, false);
    }
  });
});
