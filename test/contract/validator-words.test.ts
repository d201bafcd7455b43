// Turn 8 of 8.
/**
 * No reply of either service has a text of the library that checks requests. Every schema of every route is given values
 * that break it, part by part, until each keyword that the schemas use has been broken.
 */
import type { ErrorObject } from 'ajv';
import { beforeAll, expect, test } from 'vitest';
import type { RouteEntry } from '../../src/api/framework/route-table.ts';
import { validationError, validatorOf, type RequestPart } from '../../src/api/wire/validation.ts';
import { openApiSite } from '../support/api-site.ts';
import { partnerApiSite } from '../support/partner-api-site.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Says what a value is, or sums up other keywords, and is never an error by itself. */
const SILENT = ['default', 'description', 'title', 'properties', 'items', 'patternProperties', 'allOf'];
/** Their errors name the keyword that decided. */
const SUMMED_UP = ['else', 'propertyNames'];
const PARTS: readonly RequestPart[] = ['body', 'querystring', 'params', 'headers'];

/** A problem that has no name, or no words. */
const UNSAID = /\["''|is not valid"|must be "|must be \.|undefined/;

const parts = new Map<string, { readonly schema: Schema; readonly part: RequestPart }>();

beforeAll(async () => {
  await using desktop = await openApiSite();
  await using partner = await partnerApiSite();
  const { entries, pageEntries } = desktop.server.routes;
  for (const entry of [...entries, ...pageEntries, ...partner.api.routes.entries]) note(entry);
});

function note(entry: RouteEntry): void {
  for (const part of PARTS) {
    const schema = entry.schema[part] as Schema | undefined;
    if (schema !== undefined) parts.set(JSON.stringify([part, schema]), { schema, part });
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema and all in it. */
function* nodesOf(schema: Schema): Generator<Schema> {
  yield schema;
  for (const name of ['properties', 'patternProperties'])
    for (const one of Object.values((schema[name] ?? {}) as Schema)) if (isSchema(one)) yield* nodesOf(one);
  for (const name of ['items', 'additionalProperties', 'propertyNames', 'else', 'then']) {
    const one = schema[name];
    if (isSchema(one)) yield* nodesOf(one);
  }
  for (const name of ['anyOf', 'allOf', 'oneOf'])
    for (const one of (schema[name] ?? []) as readonly Schema[]) yield* nodesOf(one);
}

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, 'x']));
const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  1e300,
  '',
  'x',
  '\n',
  '\0',
  'x'.repeat(6_000),
  [],
  ['x', 'x'],
  Array.from({ length: 1_100 }, (_, index) => index),
  {},
  { '': 'x' },
  { 'a\nb': 'x' },
  { kind: 'backup' },
  { kind: 'restore', status: 'x' },
  many(60),
];

test('no problem is told in the words of the library, whichever keyword of a schema is broken', () => {
  const used = new Set<string>();
  const broken = new Set<string>();
  const faults = new Set<string>();
  const checks = new Map<string, { readonly schema: Schema; readonly part: RequestPart }>(parts);
  for (const { schema } of parts.values()) {
    for (const node of nodesOf(schema)) {
      // Only ever one form of several.
      if (node['type'] === 'null') continue;
      for (const keyword of Object.keys(node)) used.add(keyword);
      const field = { type: 'object', properties: { field: node }, additionalProperties: false };
      checks.set(JSON.stringify(['field', node]), { schema: field, part: 'body' });
    }
  }
  expect(checks.size).toBeGreaterThan(100);
  for (const { schema, part } of checks.values()) {
    const validate = validatorOf(schema, part);
    for (const wrong of WRONG) {
      for (const value of [wrong, { field: wrong }]) {
        if (validate(structuredClone(value)) === true) continue;
        const errors = validate.errors as ErrorObject[];
        for (const { keyword } of errors) broken.add(keyword);
        const told = validationError(errors, part);
        const text = JSON.stringify([told.message, told.details]);
        const theirs = errors.map(({ message = '' }) => message).filter((message) => text.includes(message));
        if (theirs.length > 0 || UNSAID.test(text)) faults.add(text);
      }
    }
  }
  expect([...faults]).toEqual([]);
  const unbroken = [...used].filter((name) => !broken.has(name) && ![...SILENT, ...SUMMED_UP].includes(name));
  expect(unbroken).toEqual([]);
});

test('twenty thousand wrong values are told at once', () => {
  const item = {
    anyOf: [{ type: 'string' }, { type: 'object', properties: {}, additionalProperties: false }],
  };
  const schema = { type: 'object', properties: { list: { type: 'array', items: item } } };
  const validate = validatorOf(schema, 'body');
  validate({ list: Array.from({ length: 20_000 }, (_, index) => index) });
  const from = performance.now();
  const { details } = validationError(validate.errors as ErrorObject[], 'body');
  expect(performance.now() - from).toBeLessThan(1_000);
  expect(details['problems']).toHaveLength(10);
});

test('a change of nothing, and an address that is none, are each told once', async () => {
  await using site = await partnerApiSite();
  const { data } = await site.ask('POST', '/customers', { body: { name: 'x' } });
  const empty = await site.ask('PATCH', `/customers/${String(data['id'])}`, { body: {} });
  expect([empty.status, empty.code]).toEqual([400, 'INVALID_REQUEST']);
  expect(empty.text).toContain(
    'Nothing is to be changed. Send at least one of name, email, external_id, plan_id, metadata.',
  );
  const email = await site.ask('POST', '/customers', { body: { name: 'x', email: 'nope' } });
  expect(JSON.parse(email.text)).toMatchObject({
    error: { details: { problems: [{ field: 'email', message: 'must be an e-mail address' }] } },
  });
  const names = { name: 'x', metadata: { ['k'.repeat(41)]: 'x' } };
  const metadata = await site.ask('POST', '/customers', { body: names });
  expect(metadata.text).toContain(`'metadata' has a name '${'k'.repeat(41)}', which must have 40 characters`);
});
