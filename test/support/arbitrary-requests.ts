/** Requests made from an OpenAPI document: right ones, nearly right ones, and anything. */
import * as fc from 'fast-check';
import { known, type ArbitraryValues } from './arbitrary-values.ts';
import type { DocumentedRoute } from './openapi-documents.ts';

/** Stands for an id, a cursor, revision, key or text that was there before. */
export const KNOWN = /\bknown-([a-z]+)-(\d+)\b/g;

export interface Asked {
  readonly method: string;
  readonly target: string;
  /** As it is sent; undefined for none. */
  readonly body: string | Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** How the caller shows who it is. */
  readonly caller: 'token' | 'nobody' | 'rubbish';
}

/** What requests to one interface are like. */
export interface RequestStyle {
  readonly routes: readonly DocumentedRoute[];
  readonly values: ArbitraryValues;
  /** Right starts of versioned paths, and wrong ones. */
  readonly prefixes: { readonly right: readonly string[]; readonly wrong: readonly string[] };
  /** A right value for a parameter of a path. */
  ids(route: DocumentedRoute, parameter: string): fc.Arbitrary<string>;
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

function queryOf(route: DocumentedRoute, valueOf: ArbitraryValues): fc.Arbitrary<string> {
  const named = route.parameters.filter((parameter) => parameter.in === 'query');
  const pairsOf = (care: 'strict' | 'loose'): fc.Arbitrary<string>[] =>
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

function pathOf(route: DocumentedRoute, { prefixes, ids }: RequestStyle): fc.Arbitrary<string> {
  const prefix = route.versioned
    ? fc.oneof(
        { weight: 30, arbitrary: fc.constantFrom(...prefixes.right) },
        fc.constantFrom(...prefixes.wrong),
      )
    : fc.constant('');
  const end = fc.oneof(
    { weight: 20, arbitrary: fc.constant('') },
    fc.constantFrom('/', '//', '/x', ';a=b', '%2f', '/..', '.json'),
  );
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const given = fc.tuple(
    ...names.map((name) =>
      fc.tuple(IDS, ids(route, name)).map(([odd, right]) => (odd === 'known' ? right : odd)),
    ),
  );
  return fc.tuple(prefix, given, end).map(([start, values, rest]) => {
    const path = route.path.split(/\{\w+\}/).flatMap((part, index) => [part, values[index] ?? '']);
    return `${start}${path.join('')}${rest}`;
  });
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;

function requestTo(route: DocumentedRoute, style: RequestStyle): fc.Arbitrary<Asked> {
  const schema = route.operation.requestBody?.content['application/json']?.schema;
  const right = (care: 'strict' | 'loose'): fc.Arbitrary<string | undefined> =>
    schema === undefined ? fc.constantFrom(undefined, '{}') : style.values(schema, care).map(textOf);
  return fc
    .record({
      method: fc.oneof(
        { weight: 20, arbitrary: fc.constant(route.method) },
        { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
      ),
      path: pathOf(route, style),
      query: queryOf(route, style.values),
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

/** Requests to any of the routes. */
export function anyRequestTo(style: RequestStyle): fc.Arbitrary<Asked> {
  return fc.constantFrom(...style.routes).chain((route) => requestTo(route, style));
}
