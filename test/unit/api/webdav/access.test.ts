import { expect, test } from 'vitest';
import { createWebdavAccess } from '../../../../src/api/webdav/admission.ts';
import { manualClock } from '../../../support/manual-clock.ts';

function accessOf(kept: Map<string, string>, key: string) {
  const store = {
    get: (name: string) => kept.get(name),
    set: (name: string, value: string | undefined) => {
      if (value === undefined) kept.delete(name);
      else kept.set(name, value);
    },
  };
  return createWebdavAccess(store, Buffer.from(key), manualClock());
}

test('nobody gets in before it is turned on, nor after it is turned off', () => {
  const access = accessOf(new Map(), 'key');
  expect([access.since, access.opens('')]).toEqual([undefined, false]);
  const secret = access.turnOn();
  expect([access.since, access.opens(secret)]).toEqual([manualClock().now(), true]);
  access.turnOff();
  expect([access.since, access.opens(secret)]).toEqual([undefined, false]);
});

test('a secret has 256 bits, is kept as a hash alone, and voids the one before', () => {
  const kept = new Map<string, string>();
  const access = accessOf(kept, 'key');
  const [first, second] = [access.turnOn(), access.turnOn()];
  expect(Buffer.from(second.slice('hfw_'.length), 'base64url')).toHaveLength(32);
  expect(JSON.stringify([...kept])).not.toContain(second.slice(4, 20));
  for (const wrong of [first, '', 'hfw_', second.toLowerCase(), `${second} `, second.slice(0, -1)])
    expect(access.opens(wrong), wrong).toBe(false);
  // What is kept proves nothing without the key, and outlives the program with it.
  expect(accessOf(kept, 'other key').opens(second)).toBe(false);
  expect(accessOf(kept, 'key').opens(second)).toBe(true);
});
