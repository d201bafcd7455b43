import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Destination, ListedObject } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { checkKeys } from '../../../src/repository/check/check-keys.ts';
import { Findings, SILENT_CHECK, type Finding } from '../../../src/repository/check/check-report.ts';
import { addKey } from '../../../src/repository/keys/keys.ts';
import { createRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';

const { signal } = new AbortController();
const cost = { m: 64, t: 1, p: 1 };
let destination: Destination;
let repository: Repository;
let listed: ListedObject[];

beforeAll(async () => {
  destination = createMemoryDestination();
  const secrets = [{ secret: { kind: 'passphrase' as const, text: 'first' }, label: 'first' }];
  const first = await createRepository(
    destination,
    { clock: systemClock, stateDirectory: undefined, secrets, cost },
    signal,
  );
  const recovery = { kind: 'recovery' as const, secret: randomBytes(32) };
  ({ repository } = await addKey(first, { secret: recovery, label: 'recovery', cost }, signal));
  listed = [];
  for await (const page of destination.list('keys/', signal)) listed.push(...page);
});

async function find(): Promise<readonly Finding[]> {
  const findings = new Findings(SILENT_CHECK);
  await checkKeys(repository, listed, findings, signal);
  return findings.finished().findings;
}

async function store(key: string, bytes: Buffer): Promise<void> {
  await destination.delete(key, signal);
  await destination.put(key, bytes, signal);
}

describe('a check of the keys', () => {
  it('finds nothing in sound ones', async () => {
    expect(listed).toHaveLength(4);
    expect(await find()).toEqual([]);
  });

  it('finds a flipped bit in any byte of any key slot and ring, without knowing the secret', async () => {
    for (const { key } of listed) {
      const bytes = await destination.get(key, undefined, signal);
      for (let at = 0; at < bytes.length; at += key.includes('ring') ? 17 : 1) {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at & 7)), at);
        await store(key, flipped);
        const found = await find();
        expect(
          found.map(({ object, severity }) => [object, severity]),
          `byte ${at} of ${key}`,
        ).toEqual([[key, 'error']]);
      }
      await store(key, bytes);
    }
    expect(await find()).toEqual([]);
  });

  it('finds slots that are missing, and warns of those that open nothing', async () => {
    const slot = repository.keyring.slots[1]?.slot ?? '';
    const all = listed;
    listed = all.filter(({ key }) => key !== `keys/${slot}`);
    expect(await find()).toMatchObject([
      { object: `keys/${slot}`, severity: 'error', what: expect.stringContaining('missing') },
    ]);
    listed = all;
    const { keyring } = repository;
    const without = { ...keyring, slots: keyring.slots.filter((one) => one.slot !== slot) };
    await repository.adoptRing(without, repository.ringNumber, signal);
    expect(await find()).toMatchObject([{ object: `keys/${slot}`, severity: 'warning' }]);
  });
});
