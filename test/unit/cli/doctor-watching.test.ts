/** What doctor says of watching, which the headline refers to. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { checkWatching } from '../../../src/cli/doctor/agent.ts';
import { removeTree } from '../../support/remove-tree.ts';

const parts = { clock: systemClock, signal: new AbortController().signal };

test('a source of which the agent is told nothing is an error, however few directories it has', async () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'));
  onTestFinished(() => removeTree(root));
  mkdirSync(join(root, 'a'));
  expect(await checkWatching([root], [], parts)).toMatchObject({ status: 'ok' });
  const found = await checkWatching([root], [root], parts);
  expect(found).toMatchObject({ check: 'watching', status: 'error' });
  expect(found.message).toContain(`The system does not report changes in ${root}`);
  expect(found.hint).toContain('logs');
});
