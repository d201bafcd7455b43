/**
 * Compiles the schemas of requests to functions. A built program loads them as modules that service/build/validators.js
 * generated; a program run from its sources compiles them itself.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as ajv from 'ajv';
import type { Ajv, CodeOptions, ValidateFunction } from 'ajv';
import type ajvFormats from 'ajv-formats';

/** Loads modules lazily: a start has no request to check and needs none of them. */
const load = createRequire(import.meta.url);

/** One compiler for JSON bodies (false) and one for values given as text (true), each of which caches its functions. */
const compilers = new Map<boolean, Ajv>();

/** @param hasTexts whether the values arrive as text and are converted to the types of the schema */
export function requestFunction(schema: object, hasTexts: boolean): ValidateFunction {
  const built = fileURLToPath(
    new URL(`../../validators/requests/${requestKey(schema, hasTexts)}.cjs`, import.meta.url),
  );
  if (existsSync(built)) return load(built) as ValidateFunction;
  const compiler = compilers.get(hasTexts) ?? createRequestCompiler(hasTexts);
  compilers.set(hasTexts, compiler);
  return compiler.compile(schema);
}

/** The key of a schema: the first 16 hexadecimal digits of the SHA-256 of its content. */
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
    // Makes errors carry their schema, in which near matches of unknown names are looked up.
    verbose: true,
    strictTypes: false,
    strictRequired: false,
    code,
  });
  (load('ajv-formats') as typeof ajvFormats).default(compiler);
  return compiler;
}
