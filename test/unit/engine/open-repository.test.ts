import { mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { RepositoryKeeper, type OpenRequest } from '../../../src/engine/open-repository.ts';
import type { EngineDestination } from '../../../src/engine/protocol.ts';
import { addKey, removeKey } from '../../../src/repository/keys/keys.ts';
import { writeOnlyKeyText } from '../../../src/repository/slots/typed-secret.ts';
import { never } from '../../support/engine.ts';
import { removeTree } from '../../support/remove-tree.ts';

const cost = { m: 64, t: 1, p: 1 };

let directory: string;
let store: string;
let keeper: RepositoryKeeper;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-keeper-'));
  store = join(directory, 'store');
  keeper = new RepositoryKeeper({ clock: systemClock, env: { HOLDFAST_TEST_KDF: '64,1,1' } });
});

afterEach(async () => {
  await keeper.close();
  removeTree(directory);
});

function request(
  destination: Partial<EngineDestination> = {},
  absent: OpenRequest['absent'] = 'create',
): OpenRequest {
  return {
    destination: {
      name: 'default',
      url: store,
      secret: { kind: 'passphrase', text: 'open sesame' },
      repositoryId: null,
      uploadLimit: null,
      ...destination,
    },
    stateDirectory: join(directory, 'state'),
    absent,
  };
}

async function open(...given: Parameters<typeof request>) {
  return await keeper.open(request(...given), never);
}

describe('the repository of the next job', () => {
  test('is the open one when place, secret and id are the same', async () => {
    const first = await open();
    expect(first.created).toBe(true);
    const second = await open({ repositoryId: first.repository.id, uploadLimit: 1_000_000 });
    expect(second.repository).toBe(first.repository);
    expect(second.created).toBe(false);
  });

  test('is refused when another one is remembered, though it is open', async () => {
    await open();
    await expect(open({ repositoryId: 'f'.repeat(32) })).rejects.toMatchObject({ code: 'NO_REPOSITORY' });
  });

  test('is not the open one for another secret', async () => {
    await open();
    const secret = { kind: 'passphrase', text: 'wrong' } as const;
    await expect(open({ secret })).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  });

  test('is not opened with a write-only key, and it is said what to do with one', async () => {
    await open();
    const secret = { kind: 'passphrase', text: writeOnlyKeyText(Buffer.alloc(32, 1)) } as const;
    await expect(open({ secret })).rejects.toMatchObject({
      code: 'REFUSED',
      hint: expect.stringContaining('holdfast backup'),
    });
  });

  test('is opened anew when its keys have changed', async () => {
    const first = await open();
    const secret = { kind: 'passphrase', text: 'another' } as const;
    await addKey(first.repository, { secret, label: 'x', cost }, never);
    const second = await open();
    expect(second.repository).not.toBe(first.repository);
    // A key that was taken away opens nothing any more, though it is open right now.
    await removeKey(second.repository, second.repository.slot.slot, never);
    await expect(open()).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  });

  test('is not the open one when its directory was replaced', async () => {
    const { repository } = await open();
    renameSync(store, `${store}-away`);
    mkdirSync(store);
    await expect(open({ repositoryId: repository.id })).rejects.toMatchObject({
      code: 'NO_REPOSITORY',
      details: { reason: 'empty' },
    });
    expect(readdirSync(store)).toEqual([]);
  });

  test('is a pretended one for a dry run where there is none, and a real one afterwards', async () => {
    const dry = await open({}, 'pretend');
    expect(dry.pretended).toBe(true);
    expect(readdirSync(directory)).not.toContain('store');
    expect((await open()).created).toBe(true);
  });

  test('adds up its packs as they are listed', async () => {
    const { repository, packBytes } = await open();
    expect(packBytes()).toBeUndefined();
    await repository.destination.put('packs/aa/x', Buffer.alloc(123), never);
    for await (const page of repository.destination.list('packs/', never)) expect(page).toHaveLength(1);
    expect(packBytes()).toBe(123);
  });
});
