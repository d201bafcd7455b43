/** Requests to the Desktop API made from its document: right ones, nearly right ones, and anything. */
import * as fc from 'fast-check';
import { schemaNode } from '../../src/config/schema.ts';
import { type DocumentedRoute, type OpenApiSchema, dereference, documentedRoutes } from './openapi-judge.ts';

/** Stands for the id of a job (by the start of its path), a cursor, revision or key that was there before. */
export const KNOWN = /\bknown-(backup|restore|check|prune|cursor|revision|key|source|restored)-(\d+)\b/g;

export interface Asked {
  readonly method: string;
  readonly target: string;
  /** As it is sent; undefined for none. */
  readonly body: string | Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** How the caller shows who it is. */
  readonly caller: 'token' | 'nobody' | 'rubbish';
}

const number = fc.nat(40);
const known = (kind: string): fc.Arbitrary<string> => number.map((index) => `known-${kind}-${index}`);

const ODD_NUMBERS = fc.constantFrom(
  0,
  -1,
  -0,
  0.5,
  1e21,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  Number.MAX_VALUE,
  Number.MAX_SAFE_INTEGER,
);
const ODD_TEXTS = fc.constantFrom(
  '',
  ' ',
  '\0',
  '/',
  '//',
  '.',
  '..',
  '../../etc/passwd',
  '/home/ana/\ud83d\udcbe',
  '\ud800',
  '\u202e\u001b[31m',
  'é'.normalize('NFD'),
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  'NaN',
  "'; DROP TABLE jobs; --",
  '%s%n%d',
  '${7*7}',
  '*'.repeat(300),
  '['.repeat(300),
  '\\',
  '(a+)+$',
  'x'.repeat(5_000),
  '😀'.repeat(2_000),
);
const GOOD_TEXTS = fc.constantFrom(
  'known-source-0',
  'known-source-0/a.txt',
  'known-source-0/d',
  'known-restored-0',
  '/home/ana',
  '/home/bo',
  '/missing',
  'default',
  'cloud',
  'latest',
  'zstd',
  'zstd:19',
  'none',
  'YQ==',
  '/w',
  '1h30m',
  '2026-11-21T16:40:00Z',
  'file:///backups',
  's3://bucket/prefix',
  'https://user:secret@example.org/x',
  'snap-1',
  'daily',
  '~/x',
  '08:00',
);
const TIMES = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:60Z',
    '2026-11-21',
    'now',
  ),
);

/** How well values keep to their schema: always, or but for one in eight. */
type Care = 'strict' | 'loose';

function valueOf(given: OpenApiSchema, care: Care = 'loose'): fc.Arbitrary<unknown> {
  const right = rightValue(dereference(given), care);
  if (care === 'strict') return right;
  return fc.oneof(
    { weight: 7, arbitrary: right },
    { weight: 1, arbitrary: fc.oneof(fc.jsonValue(), ODD_NUMBERS, ODD_TEXTS) },
  );
}

function rightValue(schema: OpenApiSchema, care: Care): fc.Arbitrary<unknown> {
  const members = (schema['oneOf'] ?? schema['anyOf']) as readonly OpenApiSchema[] | undefined;
  if (members !== undefined)
    return fc.oneof(...members.map((member) => rightValue(dereference(member), care)));
  if (schema['enum'] !== undefined) return fc.constantFrom(...(schema['enum'] as readonly unknown[]));
  const [type, other] = [schema['type']].flat();
  const value = ofType(schema, type, care);
  return other === 'null' ? fc.option(value) : value;
}

function ofType(schema: OpenApiSchema, type: unknown, care: Care): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      if (schema['format'] === 'date-time') return TIMES;
      if (care === 'strict') return GOOD_TEXTS;
      return fc.oneof(fc.string({ unit: 'binary' }), GOOD_TEXTS, ODD_TEXTS, TIMES, known('backup'));
    case 'integer':
    case 'number': {
      const { minimum: min = -1, maximum: max = 200 } = schema as { minimum?: number; maximum?: number };
      const within = type === 'integer' ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true });
      return care === 'strict' ? within : fc.oneof(within, ODD_NUMBERS);
    }
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueOf(schema['items'] as OpenApiSchema, care), { maxLength: 5 });
    default:
      return objectOf(schema, care);
  }
}

function objectOf(schema: OpenApiSchema, care: Care): fc.Arbitrary<unknown> {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, OpenApiSchema>>;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [
      name,
      name === 'settings' ? fc.oneof(settings('strict'), settings('loose')) : valueOf(part, care),
    ]),
  );
  const whole = fc.record(fields, { requiredKeys: (schema['required'] ?? []) as string[] });
  const [pattern] = Object.values(
    (schema['patternProperties'] ?? {}) as Readonly<Record<string, OpenApiSchema>>,
  );
  if (pattern !== undefined) {
    const names = fc.constantFrom('nas', 'usb', 'default', ...(care === 'strict' ? [] : ['1', '__proto__']));
    return fc.dictionary(names, valueOf(pattern, care), { maxKeys: 2 });
  }
  if (care === 'strict') return whole;
  const unknown = fc.dictionary(fc.oneof(fc.string(), ODD_TEXTS), fc.jsonValue(), { maxKeys: 1 });
  return fc
    .tuple(whole, fc.record(fields, { requiredKeys: [] }), unknown, fc.nat(7))
    .map(([right, part, more, dice]) => (dice === 0 ? { ...right, ...more } : dice < 3 ? part : right));
}

/** What the document calls settings and the configuration file says more of. */
function settings(care: Care): fc.Arbitrary<unknown> {
  const parts = Object.entries(schemaNode().properties ?? {});
  return fc.record(
    Object.fromEntries(parts.map(([name, part]) => [name, valueOf(part as unknown as OpenApiSchema, care)])),
    { requiredKeys: [] },
  );
}

/** Text that is sent as a body, whatever it is. */
const ANY_BODY: fc.Arbitrary<string | Buffer> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 4 }),
  fc.integer({ min: 1, max: 6_000 }).map((levels) => '['.repeat(levels) + ']'.repeat(levels)),
  fc.integer({ min: 1, max: 6_000 }).map((levels) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)),
  fc.integer({ min: 1, max: 30_000 }).map((count) => `[${'0,'.repeat(count)}0]`),
  fc.constantFrom(
    '',
    ' ',
    'null',
    '0',
    '""',
    '[]',
    'true',
    '{',
    '{}}',
    '{"source":"/a","source":"/b"}',
    '{"source":"/a","\\u0073ource":"/b"}',
    '{"__proto__":{"source":"/a"}}',
    '{"constructor":{"prototype":{}}}',
    '\ufeff{"source":"/home/ana"}',
    '{"source":1e999}',
    '{"source":"\\ud800"}',
    '{"source":"/home/ana",}',
    "{'source':'/home/ana'}",
    '{"source":"/home/ana"}\0',
    `{"source":"${'x'.repeat(1_100_000)}"}`,
  ),
);

const HEADERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'content-type': fc.oneof(
    { weight: 4, arbitrary: fc.constant('application/json') },
    fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json; charset=utf-16',
      'APPLICATION/JSON',
      'application/merge-patch+json',
      'text/plain',
      'multipart/form-data',
      'application/json, application/json',
      ';',
      '',
    ),
  ),
  accept: fc.constantFrom('*/*', 'text/html', 'application/xml;q=0', ''),
  prefer: fc.constantFrom(
    'wait=0',
    'wait=30',
    'wait=99999999999',
    'wait=-1',
    'respond-async',
    ';;;',
    'wait="5"',
  ),
  'idempotency-key': fc.oneof(known('key'), fc.constantFrom('', ' ', 'é', 'k'.repeat(255), 'k'.repeat(256))),
  'if-match': fc.oneof(fc.constantFrom('*', 'none', '"x"', ',', '""', 'W/"*"'), known('revision')),
  'x-request-id': fc.constantFrom('mine', 'a b', '', '../x', 'x'.repeat(65), 'é'),
  range: fc.constantFrom(
    'bytes=0-0',
    'bytes=5-1',
    'bytes=-1',
    'bytes=99-',
    'bytes=0-1,3-4',
    'lines=1-2',
    'bytes=',
    'x',
  ),
  'if-range': fc.constantFrom('"x"', 'x'),
  'last-event-id': fc.constantFrom('0', '1', '999999999999999', '-1', '1e3', '', 'x'),
  cookie: fc.constantFrom('a=b', 'holdfast=x; holdfast=y', ';;;=', '='),
  'x-http-method-override': fc.constant('DELETE'),
  'x-forwarded-for': fc.constantFrom('10.0.0.1', 'x'),
  expect: fc.constantFrom('100-continue', 'x'),
  origin: fc.constantFrom('null', 'http://evil.example'),
};

const someHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .uniqueArray(
    fc.oneof(...Object.entries(HEADERS).map(([name, value]) => fc.tuple(fc.constant(name), value))),
    { selector: ([name]) => name, minLength: 1, maxLength: 4 },
  )
  .map((pairs) => ({ 'if-match': '*', ...Object.fromEntries(pairs) }));

function encoded(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return encodeURIComponent(text.toWellFormed());
}

const RAW_PAIRS = fc.constantFrom(
  '',
  '&',
  '=',
  'a',
  'a=%zz',
  '%ff=%fe',
  '%00=%00',
  'limit[]=1',
  'a.b=1',
  '__proto__=1',
  '?',
  '#x',
);

function queryOf(route: DocumentedRoute): fc.Arbitrary<string> {
  const named = route.parameters.filter((parameter) => parameter.in === 'query');
  const pairsOf = (care: Care): fc.Arbitrary<string>[] =>
    named.map(({ name, schema }) => {
      const value = name === 'cursor' ? fc.oneof(known('cursor'), valueOf(schema)) : valueOf(schema, care);
      return value.map((one) => `${name}=${encoded(one)}`);
    });
  const some = (pairs: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
    fc
      .tuple(...pairs.map((one) => fc.option(one, { nil: undefined, freq: 1 })))
      .map((chosen) => chosen.filter((one) => one !== undefined).join('&'));
  const pairs = pairsOf('loose');
  const pair = fc.oneof(...pairs, RAW_PAIRS);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    // Some of those that there are, each once.
    { weight: 4, arbitrary: some(pairsOf('strict')) },
    { weight: 3, arbitrary: some(pairs) },
    // The same name twice, and what is no pair at all.
    { weight: 1, arbitrary: fc.array(pair, { maxLength: 6 }).map((list) => list.join('&')) },
  );
}

const IDS = fc.oneof(
  { weight: 20, arbitrary: fc.constant('known') },
  fc.constantFrom(
    'bkp_1',
    'rst_1',
    'snap-1',
    'snap-2',
    'latest',
    '%00',
    '..%2f..',
    '%F0%9F%92%BE',
    '%ff',
    '%zz',
    '.',
    '..',
    ':id',
    '*',
    'x'.repeat(300),
    '2026-11-21T16:40:00Z',
    '-1',
    '%20',
  ),
);

function pathOf(route: DocumentedRoute): fc.Arbitrary<string> {
  const prefix = route.versioned
    ? fc.oneof(
        { weight: 30, arbitrary: fc.constantFrom('/v1', '/api/v1') },
        fc.constantFrom('', '/v2', '/V1', '/api/v1/v1', '//v1', '/api', '/v1/.', '/internal/v1'),
      )
    : fc.constant('');
  const end = fc.oneof(
    { weight: 20, arbitrary: fc.constant('') },
    fc.constantFrom('/', '//', '/x', ';a=b', '%2f', '/..', '.json'),
  );
  const [, kind = ''] = route.path.split('/');
  const given = kind === 'snapshots' ? fc.nat(400).map((index) => `snap-${index}`) : known(kind);
  return fc.tuple(prefix, IDS, given, end).map(([start, odd, right, rest]) => {
    const id = odd === 'known' ? right : odd;
    return `${start}${route.path.replace('{id}', id)}${rest}`;
  });
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;

function requestTo(route: DocumentedRoute): fc.Arbitrary<Asked> {
  const schema = route.operation.requestBody?.content['application/json']?.schema;
  const right = (care: Care): fc.Arbitrary<string | undefined> =>
    schema === undefined ? fc.constantFrom(undefined, '{}') : valueOf(schema, care).map(textOf);
  return fc
    .record({
      method: fc.oneof(
        { weight: 20, arbitrary: fc.constant(route.method) },
        { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
      ),
      path: pathOf(route),
      query: queryOf(route),
      body: fc.oneof(
        { weight: 5, arbitrary: right('strict') },
        { weight: 4, arbitrary: right('loose') },
        { weight: 1, arbitrary: ANY_BODY },
      ),
      headers: fc.oneof(
        { weight: 3, arbitrary: fc.constant<Readonly<Record<string, string>>>({ 'if-match': '*' }) },
        { weight: 2, arbitrary: someHeaders },
      ),
      caller: fc.oneof(
        { weight: 20, arbitrary: fc.constant('token' as const) },
        fc.constantFrom('nobody' as const, 'rubbish' as const),
      ),
    })
    .map(({ path, query, body, ...more }) => ({
      ...more,
      target: query === '' ? path : `${path}?${query}`,
      body: more.method === 'GET' || more.method === 'HEAD' ? undefined : body,
    }));
}

function textOf(value: unknown): string | undefined {
  return JSON.stringify(value);
}

/** Streams are left out: they do not end. */
export const anyRequest: fc.Arbitrary<Asked> = fc
  .constantFrom(...documentedRoutes.filter(({ path }) => !path.endsWith('/events')))
  .chain(requestTo);
