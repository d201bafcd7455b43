/** A repository does not know which zstd wrote it: each restores and goes on with what the other stored. */
// Turn 6 of 8.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { choose } from '../../src/codec/zstd-choice.ts';
import { openPlace } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

/** What is installed may be Node's own where zstd-napi has no binary: then both are the same, and told so. */
const INSTALLED = choose(undefined).zstd.name === 'zstd-napi' ? 'native' : 'node';
const TURNS = [
  { writer: INSTALLED, reader: 'node' },
  { writer: 'node', reader: INSTALLED },
];

describe.each(TURNS)('written by $writer, read by $reader', ({ writer, reader }) => {
  const by = (zstd: string) => ({ env: { HOLDFAST_ZSTD: zstd } });

  test('it restores to the byte, takes the next snapshot without storing anything twice, and is whole', async () => {
    await using place = await openPlace();
    const text = 'all work and no play makes a dull backup\n'.repeat(60_000);
    const noise = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * i * 31 + (i >> 3)) & 0xff));
    await place.write({ 'text.txt': text, 'noise.bin': noise, empty: '', 'deep/er/one': 'x' });
    await place.expectRun(['init'], 0, by(writer));
    await place.expectRun(['backup', place.source, '--compression', 'zstd:9'], 0, by(writer));

    const target = join(place.directory, 'back');
    await place.expectRun(['restore', 'latest', '--target', target], 0, by(reader));
    const there = restoredPath(target, place.source);
    expect(await readFile(join(there, 'text.txt'), 'utf8')).toBe(text);
    expect((await readFile(join(there, 'noise.bin'))).equals(noise)).toBe(true);

    await place.write({ 'text-again.txt': text });
    const { stdout } = await place.expectRun(['backup', place.source, '--json'], 0, by(reader));
    const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(summary).toMatchObject({ type: 'summary', files_new: 1, files_total: 5 });
    expect(Number(summary['bytes_stored'])).toBeLessThan(20_000);
    for (const zstd of [writer, reader]) await place.expectRun(['check', '--read-data'], 0, by(zstd));
  });
});
