import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NO_EXCLUSIONS } from '../../../src/exclude/excluder.ts';
import { startSizeScan, type ExpectedTotals } from '../../../src/archiver/walk/size-scan.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { removeTree } from '../../support/remove-tree.ts';

const PATIENCE = { timeout: 60_000 };

async function counted(sources: readonly string[], ...patterns: readonly string[]): Promise<ExpectedTotals> {
  const exclude = {
    ...NO_EXCLUSIONS,
    patterns: patterns.map((text) => ({ pattern: bytesOfText(text), from: '--exclude' })),
  };
  const scan = startSizeScan({ sources: sources.map(treePath), exclude });
  try {
    for (;;) {
      if (scan.totals !== undefined) return scan.totals;
      await delay(5);
    }
  } finally {
    await scan.stop();
  }
}

test('sources inside of others are counted once, and by rules of their own', PATIENCE, async () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-scan-'));
  try {
    mkdirSync(join(root, 'cache', 'important'), { recursive: true });
    mkdirSync(join(root, 'plain'));
    writeFileSync(join(root, 'cache', 'important', 'file'), 'x'.repeat(10));
    writeFileSync(join(root, 'cache', 'junk'), 'x'.repeat(100));
    writeFileSync(join(root, 'plain', 'file'), 'x'.repeat(1_000));
    const inner = ['cache/important', 'plain', 'plain/file', 'plain'].map((name) => join(root, name));
    expect(await counted([root], 'cache')).toEqual({ files: 1, bytes: 1_000 });
    expect(await counted([root, ...inner], 'cache')).toEqual({ files: 2, bytes: 1_010 });
  } finally {
    removeTree(root);
  }
});
