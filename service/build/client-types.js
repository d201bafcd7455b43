/**
 * The types of the client in dist/client: those of the two documents of docs/api, which src/client imports from there, and
 * the declarations of src/client itself, for programs that import `holdfast/client`.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isolatedDeclarationSync } from 'rolldown/experimental';
import { parse } from 'yaml';
import { apiTypes } from './api-types.js';

const ROOT = path.join(import.meta.dirname, '..', '..');
const PLACE = path.join(ROOT, 'dist', 'client');
const DOCUMENTS = {
  desktop: { routes: 'DesktopRoutes' },
  partner: { routes: 'PartnerRoutes', webhooks: 'WebhookMessage' },
};

mkdirSync(PLACE, { recursive: true });
for (const name of globSync('*.d.ts', { cwd: PLACE })) rmSync(path.join(PLACE, name));
for (const [name, options] of Object.entries(DOCUMENTS)) {
  const document = parse(read('docs', 'api', `${name}.yaml`), { maxAliasCount: -1 });
  if (name === 'desktop')
    document.components.schemas.Settings = settings(document.components.schemas.Settings);
  write(`${name}-api`, apiTypes(document, options));
}
for (const file of globSync('src/client/*.ts', { cwd: ROOT })) {
  const { code, errors } = isolatedDeclarationSync(file, read(file), { stripInternal: true });
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  write(path.basename(file, '.ts'), forOthers(code));
}

/** The document calls the settings an object with the names of the configuration file, whose schema has its own place. */
function settings({ description }) {
  const { properties } = JSON.parse(read('docs', 'config.schema.json'));
  return { type: 'object', description, properties, additionalProperties: false };
}

/** Beside each other, and by the names of what runs: compilers elsewhere need not allow imports of `.ts`. */
function forOthers(code) {
  return code.replaceAll(
    /(from\s+["'])(?:\.\.\/\.\.\/dist\/client|\.)\/([\w-]+)(?:\.d)?\.ts(["'])/g,
    '$1./$2.js$3',
  );
}

function read(...names) {
  return readFileSync(path.join(ROOT, ...names), 'utf8');
}

function write(name, text) {
  writeFileSync(path.join(PLACE, `${name}.d.ts`), text);
}
