/**
 * What the routes of both services check requests against. The services are set up as they are when they start, with
 * nothing behind them, and each schema is noted that the framework asks a check for.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const DIST = path.join(import.meta.dirname, '..', '..', 'dist');
const VALIDATION = pathToFileURL(path.join(DIST, 'api', 'wire', 'validation.js')).href;

/** In place of the module that checks: it only takes notes. */
const NOTES = `
export const asked = [];
export const validatorOf = (schema, part) => { asked.push({ schema, part }); return () => true; };
export const validationError = () => undefined;
`;

/** `{ schema, part }` of every route, in the order of the routes; some more than once. */
export async function routeSchemas() {
  const hooks = registerHooks({
    load: (url, context, next) =>
      url === VALIDATION ? { format: 'module', source: NOTES, shortCircuit: true } : next(url, context),
  });
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-build-'));
  try {
    const { asked } = await load('api/wire/validation.js');
    await setUpAgentApi(directory);
    await setUpPartnerService();
    return asked;
  } finally {
    hooks.deregister();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function setUpAgentApi(directory) {
  const { createApiServer } = await load('api/server.js');
  const { openStateDatabase } = await load('db/state-database.js');
  const { systemClock: clock } = await load('base/clock.js');
  const state = openStateDatabase(path.join(directory, 'state.db'), clock);
  const server = await createApiServer({
    agent: {},
    state,
    clock,
    settings: () => nothing,
    settingsFile: nothing,
    pageProtect: nothing,
    pageInsight: nothing,
    pageSettings: nothing,
    stateDirectory: directory,
    stores: () => [],
    version: '0',
    metrics: async () => '',
  });
  await server.close(0);
  state.close();
}

async function setUpPartnerService() {
  const { createPartnerApp } = await load('partner/http/app.js');
  const { systemClock: clock } = await load('base/clock.js');
  const key = randomBytes(32);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keys = {
    pepper: key,
    cursors: key,
    forms: key,
    sealing: nothing,
    signing: { privateKey, publicKey, id: '' },
  };
  const { close } = await createPartnerApp({
    stores: nothing,
    clock,
    keys,
    version: '0',
    metrics: async () => '',
  });
  await close();
}

async function load(name) {
  return await import(pathToFileURL(path.join(DIST, name)).href);
}

/** Stands for whatever a handler would use: nothing is asked of it while routes are declared. */
const nothing = new Proxy(() => nothing, {
  get: (_, name) => (name === 'then' ? undefined : nothing),
});
