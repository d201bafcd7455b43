/** What the catalog's benchmark and the thread that fills the catalog both know. */
import { createHash } from 'node:crypto';
import { FULL_KEYS } from '../../src/base/stored-by.ts';
import { asByteString } from '../../src/base/byte-path.ts';
import { NO_RECORD } from '../../src/format/records.ts';
import type { DirectoryTotals } from '../../src/format/tree.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { seededRandom } from '../support/seeded-random.ts';

export interface BuildSetup {
  readonly path: string;
  readonly files: number;
  readonly snapshots: number;
}

export interface BuildReport {
  /** Milliseconds that each snapshot took. */
  readonly times: readonly number[];
  /** Of the last. */
  readonly files: number;
  readonly directories: number;
}

const random = seededRandom(20_260_101);
const PARTS = ['ba', 'ko', 'ri', 'ne', 'sta', 'mul', 'tor', 'ven', 'qua', 'zi', 'ple', 'gho', 'ju', 'wex'];

/** Names are made of these. */
export const WORDS = Array.from({ length: 4_000 }, () => word());
export const COMMON = ['index.js', 'package.json', 'README.md', 'index.ts', 'LICENSE'];

function word(): string {
  return Array.from({ length: 2 + random.below(2) }, () => PARTS[random.below(PARTS.length)]).join('');
}

export function snapshotOf(
  number: number,
  root: Buffer,
  totals: Pick<DirectoryTotals, 'files' | 'bytes'>,
): Snapshot {
  const startedMs = 1_700_000_000_000 + number * 3_600_000;
  return {
    id: createHash('sha256').update(`snapshot ${number}`).digest('hex'),
    chain: { writer: '0'.repeat(32), seq: number + 1, prev: NO_RECORD },
    generation: 1,
    storedBy: FULL_KEYS,
    record: {
      tool: 'bench',
      host: 'host',
      user: 'user',
      paths: [asByteString('/home')],
      startedMs,
      finishedMs: startedMs,
      root,
      plain: false,
      tags: [],
      pinned: false,
      status: 'complete',
      errors: [],
      errorsMore: 0,
      counts: {
        files: totals.files,
        directories: 0,
        links: 0,
        others: 0,
        bytes: totals.bytes,
        new: 0,
        changed: 0,
        unchanged: 0,
        failed: 0,
      },
      owners: { users: {}, groups: {} },
      omitted: [],
      kind: 'files',
    },
  };
}
