/** A process that accepts requests is killed again and again: all of them together accept no more than the limit. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { moduleUrl, startScript } from '../support/run-script.ts';

const LIMIT = 3_000;
const KILLS = 6;

/** Tells of each request that it accepts, before it asks for the next one; ends when it is refused. */
const ACCEPTOR = `
import { writeSync } from 'node:fs';
import { systemClock } from ${JSON.stringify(moduleUrl('src/base/clock.ts'))};
import { openStateDatabase } from ${JSON.stringify(moduleUrl('src/db/state-database.ts'))};
const { rateLog } = openStateDatabase(process.argv[2], systemClock);
while (rateLog.tryAccept('desktop', ${LIMIT}, 3_600_000, systemClock.now()).accepted) writeSync(1, 'accepted\\n');
writeSync(1, 'refused\\n');
process.kill(process.pid, 'SIGKILL');
`;

/** How many it accepted until it was killed, or refused one. */
async function accept(path: string, killAfter: number): Promise<{ accepted: number; refused: boolean }> {
  const child = startScript(ACCEPTOR, { args: [path] });
  const ended = once(child, 'close');
  let [accepted, refused] = [0, false];
  if (child.stdout === null) throw new Error('the script has no output');
  for await (const line of createInterface(child.stdout)) {
    if (line === 'refused') refused = true;
    else accepted += 1;
    if (accepted === killAfter) child.kill('SIGKILL');
  }
  const [, signal] = (await ended) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  return { accepted, refused };
}

test('no more than the limit is accepted in a window by processes that are killed one after the other', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-rate-'));
  try {
    const path = join(directory, 'state.db');
    let total = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { accepted, refused } = await accept(path, 37 + 51 * kill);
      expect(refused).toBe(false);
      total += accepted;
    }
    const last = await accept(path, Number.POSITIVE_INFINITY);
    expect(last.refused).toBe(true);
    total += last.accepted;
    expect(total).toBeLessThanOrEqual(LIMIT);
    // What was reserved and not known to be taken: less than a hundredth of the limit for each kill.
    expect(total).toBeGreaterThan(LIMIT - (KILLS * LIMIT) / 100);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
