import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { RepositoryKeeper, type OpenRequest } from '../../../src/engine/open-repository.ts';
import { never } from '../../support/engine.ts';

test('a repository whose only slot names another one by a wrong bit is not taken for a stranger', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-slot-'));
  const store = join(directory, 'store');
  const request = (repositoryId: string | null): OpenRequest => ({
    destination: {
      name: 'default',
      url: store,
      access: undefined,
      person: undefined,
      secret: { kind: 'passphrase', text: 'open sesame' },
      repositoryId,
      uploadLimit: null,
    },
    stateDirectory: join(directory, 'state'),
    absent: 'create',
  });
  const engine = { clock: systemClock, env: { HOLDFAST_TEST_KDF: '64,1,1' } };
  const first = new RepositoryKeeper(engine);
  const { id } = (await first.open(request(null), never)).repository;
  await first.close();
  const slot = readdirSync(join(store, 'keys')).find((name) => name.length === 32) ?? '';
  const path = join(store, 'keys', slot);
  const bytes = readFileSync(path);
  const at = bytes.indexOf('repo') + 6;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  chmodSync(path, 0o600);
  writeFileSync(path, bytes);
  const second = new RepositoryKeeper(engine);
  expect((await second.open(request(id), never)).repository.id).toBe(id);
  await second.close();
  rmSync(directory, { recursive: true });
});
