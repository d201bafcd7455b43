import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareTrees, shownDifference } from './compare-trees.ts';
import { removeTree } from './remove-tree.ts';
import { makeTortureTree, tortureSections } from './torture-tree.ts';
import type { TortureReport } from './torture-tree.ts';

function isRecent(nanoseconds: bigint): boolean {
  return Math.abs(Date.now() - Number(nanoseconds / 1_000_000n)) < 3_600_000;
}

describe('the torture tree', () => {
  let work: string;
  const reports: TortureReport[] = [];

  beforeAll(async () => {
    work = mkdtempSync(path.join(tmpdir(), 'holdfast-torture-'));
    for (const name of ['one', 'two'])
      reports.push(await makeTortureTree(path.join(work, name), { without: ['many', 'sparse'] }));
  });
  afterAll(() => {
    removeTree(work);
    expect(existsSync(work)).toBe(false);
  });

  test('is the same each time, but for the times of what nobody stamped', () => {
    const differences = compareTrees(path.join(work, 'one'), path.join(work, 'two'))
      // What an ordinary user made unreadable cannot be compared by him either.
      .filter(({ aspect }) => aspect !== 'unreadable')
      .filter(({ aspect, left }) => aspect !== 'mtime' || !isRecent(BigInt(left)));
    expect(differences.map(shownDifference)).toEqual([]);
    expect(reports[0]?.made).toEqual(reports[1]?.made);
  });

  test('says of everything whether it could be made', () => {
    const sections = new Set(reports[0]?.made.map((entry) => entry.path.split('/')[0]));
    for (const section of tortureSections) {
      if (section === 'many' || section === 'sparse') continue;
      const refused = reports[0]?.refused.filter((entry) => entry.path.startsWith(`${section}/`)) ?? [];
      expect(sections.has(section) || refused.length > 0, section).toBe(true);
    }
    expect(reports[0]?.refused.every((entry) => entry.reason !== '')).toBe(true);
  });

  test('is not made in a directory that holds something', async () => {
    await expect(makeTortureTree(path.join(work, 'one'))).rejects.toThrow('is not empty');
  });
});
