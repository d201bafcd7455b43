/**
 * The two descriptions of docs/api as JSON: dist/documents/NAME.json is what /openapi.json gives out. A service that read
 * YAML itself would need its library for that alone.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const ROOT = path.join(import.meta.dirname, '..', '..');
const PLACE = path.join(ROOT, 'dist', 'documents');

rmSync(PLACE, { recursive: true, force: true });
mkdirSync(PLACE, { recursive: true });
for (const name of ['desktop', 'partner']) {
  const text = readFileSync(path.join(ROOT, 'docs', 'api', `${name}.yaml`), 'utf8');
  // What is written once and named often are the headers of replies: there is no limit to that.
  const document = parse(text, { maxAliasCount: -1 });
  writeFileSync(path.join(PLACE, `${name}.json`), JSON.stringify(document));
}
