/**
 * The check of values that a schema stands for, as a function. A built program has them as modules, which
 * service/build/validators.js wrote; compiling one takes a tenth of a second. What runs from its sources compiles.
 */
import { createRequire } from 'node:module';
import type * as ajv from 'ajv';
import type { CodeOptions, ValidateFunction } from 'ajv';
import type { TSchema } from '../base/schema-type.ts';
import { FORMATS } from './text-formats.ts';

/** The schemas that are compiled when the program is built. */
export type SchemaName = 'agent-settings' | 'partner-settings';

/** What is loaded for the first value that is checked: most commands check none. */
const load = createRequire(import.meta.url);

export function schemaFunction<Value>(name: SchemaName, schema: TSchema): ValidateFunction<Value> {
  if (import.meta.url.endsWith('.ts')) return createCompiler().compile<Value>(schema);
  return load(`../validators/${name}.cjs`) as ValidateFunction<Value>;
}

/** Defaults are filled in, every mistake is found, and each says what it was held against. */
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
