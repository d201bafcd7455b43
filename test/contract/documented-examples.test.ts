/** The errors that docs/api/desktop.yaml shows as examples are what the agent says, word for word. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toApiError } from '../../src/api/framework/framework-errors.ts';
import { checkSource } from '../../src/daemon/sources/source-check.ts';
import { type ApiSite, openApiSite } from '../support/api-site.ts';
import { desktopDocument } from '../support/openapi-judge.ts';

interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const shown = new Map<string, ShownError>();
function visit(value: unknown, name: string): void {
  if (typeof value !== 'object' || value === null) return;
  const { success, error } = value as { readonly success?: unknown; readonly error?: ShownError };
  if (success === false && error?.message !== undefined) shown.set(name, error);
  for (const [key, part] of Object.entries(value)) visit(part, key === 'value' ? name : key);
}
visit(desktopDocument.components.responses, '');

let site: ApiSite;
const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-examples-'));
beforeAll(async () => {
  site = await openApiSite();
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await site[Symbol.asyncDispose]();
});

async function replaced(settings: object): Promise<unknown> {
  const options = {
    method: 'PUT',
    token: await site.token(),
    headers: { 'if-match': '*' },
    body: { settings },
  };
  return (await site.call('/v1/settings', options)).json.error;
}

/** How each is got. */
const ASKED: Readonly<Record<string, () => Promise<unknown>>> = {
  missingSource: async () =>
    await checkSource('/home/ana/Documents', { stateDirectory: directory, stores: [] }).catch(
      (error: unknown) => {
        const { code, message, details } = toApiError(error);
        return { code, message, details };
      },
    ),
  leftOut: async () => {
    writeFileSync(path.join(site.directory, 'config.json'), '{"plan": "pro"}', { mode: 0o600 });
    return await replaced({ retention: { keepDaily: 14 } });
  },
  outOfBounds: async () => await replaced({ retention: { keepDaily: 0 } }),
};

test('each example of an error is compared', () => {
  expect([...shown.keys()].sort()).toEqual(Object.keys(ASKED).sort());
});

test.each(Object.entries(ASKED))('%s', async (name, ask) => {
  expect(await ask()).toEqual(shown.get(name));
});
