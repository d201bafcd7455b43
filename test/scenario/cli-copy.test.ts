// Turn 6 of 8.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { jsonLines, openPlace, outcomeOf } from '../support/cli.ts';

test('copy tells of each snapshot as soon as it is made: who breaks it off knows what there is', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ small: 'x' });
  await place.expectRun(['backup', place.source]);
  await place.write({ large: randomBytes(64 * 1024 * 1024) });
  await place.expectRun(['backup', place.source]);
  const second = join(place.directory, 'second');
  await place.expectRun(['init', '-r', second]);

  const child = place.start(['copy', '--from', place.repository, '-r', second, '--json']);
  const ended = outcomeOf(child);
  let told: unknown;
  for await (const line of createInterface(child.stdout ?? process.stdin)) {
    const said = JSON.parse(line) as { type: string; copy_id?: string };
    if (said.type !== 'copied') continue;
    told = said.copy_id;
    child.kill('SIGKILL');
    break;
  }
  await ended;
  const made = jsonLines(await place.expectRun(['snapshots', '-r', second, '--json']));
  expect(made.map(({ id }) => id)).toEqual([told]);
});
