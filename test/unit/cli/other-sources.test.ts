/** Whoever restores all of one snapshot is told of the sources that it does not have. */
import { expect, it } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { FULL_KEYS } from '../../../src/base/stored-by.ts';
import { latestNote, otherSources, otherSourcesLines } from '../../../src/cli/snapshots/other-sources.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';

function snapshot(id: string, paths: readonly string[], more: object = {}): Snapshot {
  const record = { host: 'desk', kind: 'files', paths: paths.map(bytesOfText), startedMs: 0, ...more };
  return { id: id.padEnd(64, '0'), record, storedBy: FULL_KEYS } as unknown as Snapshot;
}

const documents = snapshot('d2', ['/home/me/Documents']);
const live = [
  snapshot('a0', ['/home/me/Pictures']),
  snapshot('d1', ['/home/me/Documents']),
  snapshot('c0', ['/home/me/Documents/letters']),
  snapshot('b0', ['/srv/mail'], { host: 'server' }),
  snapshot('e0', ['/dump.sql'], { kind: 'stream' }),
  snapshot('a1', ['/home/me/Pictures']),
  snapshot('f0', ['/home/me/Documents2']),
  documents,
];

it('names the newest snapshot of each other source of the same machine, the newest first', () => {
  expect(otherSources(documents, live).map(({ id }) => id.slice(0, 2))).toEqual(['f0', 'a1']);
});

it('says nothing where there is no other', () => {
  expect(otherSources(documents, [documents])).toEqual([]);
  expect(otherSourcesLines(documents, [], 'restore')).toEqual([]);
});

it('says how to bring them back, and how many it does not name', () => {
  const many = Array.from({ length: 8 }, (_, n) => snapshot(`${n}1234567`, [`/home/me/${n}`]));
  const lines = otherSourcesLines(documents, otherSources(documents, [...many, documents]), 'restore');
  expect(lines).toHaveLength(8);
  expect(lines[0]).toBe('This was only /home/me/Documents. These have snapshots of their own:');
  expect(lines[1]).toContain('71234567');
  expect(lines[1]).toContain('/home/me/7');
  expect(lines[6]).toContain('3 more sets of sources');
  expect(lines.at(-1)).toContain('restore 71234567 --target DIR');
});

it('says beforehand which of the sources "latest" is', () => {
  expect(latestNote(documents)).toContain(
    '"latest" is snapshot d2000000, which has only /home/me/Documents.',
  );
});
