/**
 * Provides validation functions for schemas. Compiling one takes a tenth of a second, so a built program has them as
 * modules that service/build/validators.js wrote. When run from its sources, the program compiles them.
 */
import { createRequire } from 'node:module';
import type * as ajv from 'ajv';
import type { CodeOptions, ValidateFunction } from 'ajv';
import type { TSchema } from '../base/schema-type.ts';
import { FORMATS } from './text-formats.ts';

/** Schemas that are compiled when the program is built. */
export type SchemaName = 'agent-settings' | 'partner-settings';

/** Loads modules only when the first value is checked, as most commands check none. */
const load = createRequire(import.meta.url);

export function schemaFunction<Value>(name: SchemaName, schema: TSchema): ValidateFunction<Value> {
  if (import.meta.url.endsWith('.ts')) return createCompiler().compile<Value>(schema);
  return load(`../validators/${name}.cjs`) as ValidateFunction<Value>;
}

/** Creates a compiler whose functions fill in defaults, find all mistakes, and name the value and schema of each. */
export function createCompiler(code: CodeOptions = {}): ajv.Ajv {
  const { Ajv } = load('ajv') as typeof ajv;
  return new Ajv({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    allowUnionTypes: true,
    formats: FORMATS,
    code,
  });
}
