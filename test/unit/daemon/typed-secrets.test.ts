import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SecretReference } from '../../../src/config/settings.ts';
import { typedSecrets, type TypedSecrets } from '../../../src/daemon/page/typed-secrets.ts';

let stateDirectory: string;
let inUse: SecretReference[];
let secrets: TypedSecrets;

beforeEach(() => {
  stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-typed-'));
  inUse = [];
  secrets = typedSecrets({
    stateDirectory,
    clock: { now: () => Date.now() },
    references: () => inUse,
    settingsFiles: [],
    learn: () => undefined,
  });
});

afterEach(() => {
  rmSync(stateDirectory, { recursive: true, force: true });
});

test('of typed secrets no more than 200 are kept, until an hour has passed', async () => {
  const kept = await Promise.all(Array.from({ length: 200 }, async () => await secrets.keep('a secret')));
  const refused = { code: 'SERVICE_UNAVAILABLE' };
  await expect(secrets.keep('one too many')).rejects.toMatchObject(refused);
  const old = Date.now() / 1_000 - 3_700;
  for (const { file } of kept) utimesSync(file, old, old);
  inUse = kept.slice(0, 199);
  await secrets.keep('in the place of the one that is not used');
  await expect(secrets.keep('one too many')).rejects.toMatchObject(refused);
  expect(readdirSync(join(stateDirectory, 'secrets'))).toHaveLength(200);
});
