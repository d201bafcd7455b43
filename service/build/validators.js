/**
 * Compiles the schemas of settings to modules: dist/validators/NAME.cjs, one function each. Compiling them whenever a
 * command reads settings took half of its time.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import { _ } from 'ajv';

const DIST = path.join(import.meta.dirname, '..', '..', 'dist');
const { createCompiler } = await load('config/schema-compiler.js');
const { ConfigSchema } = await load('config/schema.js');
const { PartnerConfigSchema } = await load('partner/settings.js');

mkdirSync(path.join(DIST, 'validators'), { recursive: true });
write('agent-settings', ConfigSchema);
write('partner-settings', PartnerConfigSchema);

function write(name, schema) {
  const compiler = createCompiler({ source: true, formats: _`require("../config/text-formats.js").FORMATS` });
  const code = standalone.default(compiler, compiler.compile(schema));
  writeFileSync(path.join(DIST, 'validators', `${name}.cjs`), code);
}

async function load(name) {
  return await import(path.join(DIST, name));
}
