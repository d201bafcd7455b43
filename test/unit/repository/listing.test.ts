import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { listNamed, packKey } from '../../../src/repository/objects/listing.ts';

const { signal } = new AbortController();
const name = createHash('sha256').update('an object').digest('hex');
const BYTES = Buffer.from('the object itself');

it.each([
  ['packs/', packKey(name), [`packs/${name}`, `packs/00/x/${name}`, `packs/${name.slice(0, 2)}/old/${name}`]],
  [
    'snapshots/',
    `snapshots/${name}`,
    [`snapshots/.partial/${name}`, `snapshots/${name.slice(0, 2)}/${name}`],
  ],
] as const)('what bears a name below %s in another place is not the object', async (prefix, own, others) => {
  const destination = createMemoryDestination();
  for (const key of others) await destination.put(key, Buffer.from('a piece'), signal);
  expect([...(await listNamed(destination, prefix, signal))]).toEqual([]);
  await destination.put(own, BYTES, signal);
  const listed = await listNamed(destination, prefix, signal);
  expect([...listed].map(([key, { size }]) => [key, size])).toEqual([[name, BYTES.length]]);
});
