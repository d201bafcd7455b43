/**
 * What an interface promises of each of its routes, once as they are registered and once as the document of docs/api says:
 * in one form, so that a test can hold one against the other, and neither drifts.
 */
import type { RouteEntry } from '../../src/api/framework/route-table.ts';
import type { DocumentedRoute, OpenApiJudge, OpenApiSchema } from './openapi-documents.ts';
import { type Reading, restrictionsOf } from './schema-restrictions.ts';

export interface RouteContract {
  readonly query: Readonly<Record<string, ParameterContract>>;
  readonly path: Readonly<Record<string, ParameterContract>>;
  /** Names; of those that the route cannot do without with `!`. */
  readonly headers: readonly string[];
  readonly body: ParameterContract | undefined;
  readonly successes: Readonly<Record<string, SuccessContract>>;
  /** `public`, `api`, `device`. */
  readonly scope: string;
}

interface ParameterContract {
  readonly required: boolean;
  readonly schema: OpenApiSchema;
}

interface SuccessContract {
  readonly media: readonly string[];
  /** Of what is in the envelope; undefined where there is none. */
  readonly data: OpenApiSchema | undefined;
}

export interface Interface extends Pick<OpenApiJudge, 'document' | 'dereference'> {
  /** What the security of an operation stands for, as JSON. */
  readonly scopes: Readonly<Record<string, string>>;
}

/** By method and path below the prefix, as `GET /backup/{id}`: what is registered for it, under each prefix. */
export function registeredRoutes(
  entries: readonly RouteEntry[],
  prefixes: readonly string[],
): ReadonlyMap<string, readonly RouteEntry[]> {
  const found = new Map<string, RouteEntry[]>();
  for (const entry of entries.filter(({ method }) => method !== 'HEAD')) {
    const prefix = prefixes.find((one) => entry.url.startsWith(`${one}/`)) ?? '';
    const path = entry.url.slice(prefix.length).replaceAll(/:(\w+)/g, '{$1}');
    const name = `${entry.method} ${path}`;
    found.set(name, [...(found.get(name) ?? []), entry]);
  }
  return found;
}

const BARE: Reading = { dereference: (schema) => schema, depth: 'all' };

/** Texts that handlers read, to say what is wrong with one: what the schemas of routes say of such a text, and what holds. */
const READ_BY_HANDLERS: ReadonlyMap<string, OpenApiSchema> = new Map([
  // `TimeInput`, by `readTime`.
  [
    JSON.stringify({ type: 'string', minLength: 1, maxLength: 64 }),
    { type: 'string', maxLength: 64, format: 'date-time' },
  ],
  // Where webhooks are sent, by `parseTarget`.
  [
    JSON.stringify({ type: 'string', minLength: 1 }),
    {
      type: 'string',
      minLength: 1,
      maxLength: 2048,
      pattern: String.raw`^[Hh][Tt][Tt][Pp][Ss]://[^@/?#\s\\]+(?:[/?][^#\s\\]*)?$`,
      format: 'uri',
    },
  ],
  // `PathB64Input`, by `readPathB64`.
  [
    JSON.stringify({ type: 'string', minLength: 1, maxLength: 5464 }),
    {
      type: 'string',
      minLength: 1,
      maxLength: 5464,
      pattern:
        '^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-][AQgw]|[A-Za-z0-9+/_-]{2}[AEIMQUYcgkosw048])?={0,2}$',
    },
  ],
  // How long a pause is, by `parseDuration`.
  [
    JSON.stringify({ type: 'string', minLength: 2, maxLength: 32 }),
    {
      type: 'string',
      minLength: 2,
      maxLength: 32,
      pattern: `^\\s*(?=\\d)${['[wW]', '[dD]', '[hH]', '[mM]', '[sS]', '[mM][sS]'].map((unit) => String.raw`(?:\d+(?:\.\d+)?${unit})?`).join('')}\\s*$`,
    },
  ],
]);

export function registeredContract({ method, url, facts, schema }: RouteEntry): RouteContract {
  const { querystring, params, body, response = {} } = schema;
  const { properties: declared = {} } = (params ?? {}) as ObjectSchema;
  const named = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const successes = Object.entries(response as Readonly<Record<string, OpenApiSchema>>);
  const { produces, duration } = facts;
  const { format } = ((querystring ?? {}) as ObjectSchema).properties ?? {};
  const media = (format?.['enum'] as readonly string[] | undefined)?.includes('csv')
    ? ['application/json', 'text/csv']
    : ['application/json'];
  return {
    query: parametersOf(querystring ?? {}),
    path: Object.fromEntries(
      named.map((name) => [
        name,
        { required: true, schema: whole(restrictionsOf(declared[name] ?? { type: 'string' }, BARE)) },
      ]),
    ),
    headers: [
      'X-Request-Id',
      ...(method === 'POST' && facts.idempotent !== false ? ['Idempotency-Key'] : []),
      ...(method === 'POST' && duration === 'waits' ? ['Prefer'] : []),
      ...(produces === 'text/event-stream' ? ['Last-Event-ID'] : []),
      ...(produces === 'application/octet-stream' ? ['Range', 'If-Range'] : []),
      ...(method === 'PUT' ? ['If-Match!'] : []),
    ].sort(),
    body:
      body === undefined
        ? undefined
        : {
            required: facts.body !== 'optional',
            schema: whole(restrictionsOf(body as OpenApiSchema, BARE)),
          },
    successes:
      produces === undefined
        ? Object.fromEntries(
            successes.map(([status, data]) => [
              status,
              { media, data: restrictionsOf(data, { ...BARE, depth: 'kind' }) },
            ]),
          )
        : Object.fromEntries(
            (produces === 'application/octet-stream' ? [200, 206] : [200]).map((status) => [
              status,
              { media: [produces], data: undefined },
            ]),
          ),
    scope: facts.scope,
  };
}

export function documentedContract(
  { operation, parameters }: DocumentedRoute,
  { document, dereference, scopes }: Interface,
): RouteContract {
  const demanded = ({
    required = false,
    schema,
  }: DocumentedRoute['parameters'][number]): ParameterContract => ({
    required,
    schema: restrictionsOf(schema, { dereference, depth: 'all' }),
  });
  const at = (place: string): Readonly<Record<string, ParameterContract>> =>
    Object.fromEntries(parameters.filter((one) => one.in === place).map((one) => [one.name, demanded(one)]));
  const { requestBody } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const security = JSON.stringify(operation.security ?? document.security);
  return {
    query: at('query'),
    path: at('path'),
    headers: parameters
      .filter((one) => one.in === 'header')
      .map(({ name, required }) => (required === true ? `${name}!` : name))
      .sort(),
    body:
      body === undefined
        ? undefined
        : {
            required: requestBody?.required ?? false,
            schema: restrictionsOf(body, { dereference, depth: 'all' }),
          },
    successes: Object.fromEntries(
      successes.map(([status, reply]) => {
        const { content = {} } = dereference(reply);
        const schema = content['application/json']?.schema;
        const { data } = (schema?.['properties'] ?? {}) as { readonly data?: OpenApiSchema };
        return [
          status,
          {
            media: Object.keys(content),
            data: data === undefined ? undefined : restrictionsOf(data, { dereference, depth: 'kind' }),
          },
        ];
      }),
    ),
    scope: scopes[security] ?? security,
  };
}

/** What is documented, as far as the routes say: of data of any kind, as events have it, the document says more. */
export function asFarAsRegistered(documented: unknown, registered: unknown): unknown {
  if (isObject(registered) && JSON.stringify(registered) === '{"type":"object"}')
    return isObject(documented) && kindsOf(documented).every((kind) => kind === 'object')
      ? registered
      : documented;
  if (!isObject(documented) || !isObject(registered)) return documented;
  return Object.fromEntries(
    Object.entries(documented).map(([name, part]) => [name, asFarAsRegistered(part, registered[name])]),
  );
}

function kindsOf({ type, anyOf }: OpenApiSchema): readonly unknown[] {
  return anyOf === undefined ? [type] : (anyOf as readonly OpenApiSchema[]).flatMap(kindsOf);
}

function isObject(value: unknown): value is OpenApiSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
}

function parametersOf({ properties = {}, required = [] }: ObjectSchema): RouteContract['query'] {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      name,
      {
        // What has a default is always there in the end.
        required: required.includes(name) && value['default'] === undefined,
        schema: whole(restrictionsOf(value, BARE)),
      },
    ]),
  );
}

/** With what the handlers demand, too. */
function whole(schema: OpenApiSchema): OpenApiSchema {
  const text = JSON.stringify(schema, (_name, part: unknown) =>
    isObject(part) ? (READ_BY_HANDLERS.get(JSON.stringify(part)) ?? part) : part,
  );
  return JSON.parse(text) as OpenApiSchema;
}
