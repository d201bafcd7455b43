/**
 * The checks that schemas of requests stand for, as functions. A built program has them as modules, which
 * service/build/validators.js wrote; what runs from its sources compiles them.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as ajv from 'ajv';
import type { Ajv, CodeOptions, ValidateFunction } from 'ajv';
import type ajvFormats from 'ajv-formats';

/** Nothing is loaded before the first request that has something to check: a start has none. */
const load = createRequire(import.meta.url);

/** What compiles schemas, and keeps them: one for bodies and one for texts. */
const compilers = new Map<boolean, Ajv>();

/** @param hasTexts the values come as texts, and become what the schema says */
export function requestFunction(schema: object, hasTexts: boolean): ValidateFunction {
  const built = fileURLToPath(
    new URL(`../../validators/requests/${requestKey(schema, hasTexts)}.cjs`, import.meta.url),
  );
  if (existsSync(built)) return load(built) as ValidateFunction;
  const compiler = compilers.get(hasTexts) ?? createRequestCompiler(hasTexts);
  compilers.set(hasTexts, compiler);
  return compiler.compile(schema);
}

/** By which a schema is known: 16 hexadecimal digits of its content's SHA-256. */
export function requestKey(schema: object, hasTexts: boolean): string {
  return createHash('sha256')
    .update(JSON.stringify([hasTexts, schema]))
    .digest('hex')
    .slice(0, 16);
}

export function createRequestCompiler(hasTexts: boolean, code: CodeOptions = {}): Ajv {
  const { Ajv: Compiler } = load('ajv') as typeof ajv;
  const compiler = new Compiler({
    allErrors: true,
    removeAdditional: false,
    useDefaults: true,
    coerceTypes: hasTexts,
    // Errors name the schema they come from: that is where near matches are found.
    verbose: true,
    strictTypes: false,
    strictRequired: false,
    code,
  });
  (load('ajv-formats') as typeof ajvFormats).default(compiler);
  return compiler;
}
