/**
 * TypeScript types of an OpenAPI document, for the client of the npm package: each schema under its name, and each route as
 * `METHOD /path` with what goes in and what comes out. It knows the keywords that docs/api uses and fails at any other one.
 */

/** Say nothing about the type: annotations, and bounds that the agent checks and explains. */
const IGNORED = new Set(
  `title description example examples default format pattern minimum maximum minLength maxLength minItems maxItems
  minProperties maxProperties uniqueItems dependentRequired contentMediaType contentSchema`.split(/\s+/),
);
const KNOWN = new Set([
  ...IGNORED,
  ...`$ref const enum type items properties patternProperties required additionalProperties propertyNames
  oneOf anyOf allOf`.split(/\s+/),
]);
const SCALARS = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

/** The client sets these itself, or reads one of several forms alone. */
const OWN_PARAMETERS = new Set(['X-Request-Id', 'Idempotency-Key', 'Prefer', 'Last-Event-ID', 'format']);

/**
 * @param document as JSON, with its references
 * @param options.routes name of the interface of the routes
 * @param options.webhooks name of the type of all messages to webhooks, when the document has any
 * @throws {Error} for a keyword that it does not know
 */
export function apiTypes(document, { routes, webhooks }) {
  const used = new Set();
  const types = typesOf(document, used);
  const parts = [routesOf(document, routes, types)];
  if (webhooks !== undefined) parts.push(webhooksOf(document, webhooks, types));
  // A schema may name others, which are used then too: the set grows while it is gone through.
  for (const name of used) parts.push(declaration(name, document.components.schemas[name], types));
  return `${parts.join('\n\n')}\n`;
}

/** How schemas are written as types. References are noted in `used`. */
function typesOf(document, used) {
  function type(schema, indent) {
    const unknown = Object.keys(schema).filter((name) => !KNOWN.has(name));
    if (unknown.length > 0) throw new Error(`No type is known for the keyword ${unknown.join(', ')}`);
    if (schema.$ref !== undefined) return reference(schema.$ref);
    if ('const' in schema) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
    const choices = [schema.oneOf, schema.anyOf].filter((list) => list?.some(isType)).flat();
    const whole = (schema.allOf ?? []).filter(isType);
    const own =
      schema.type === undefined
        ? []
        : [union([schema.type].flat().map((name) => named(name, schema, indent)))];
    const sides = [...own, ...whole.map((one) => type(one, indent))];
    if (choices.length > 0) sides.push(union(choices.map((one) => type(one, indent))));
    if (sides.length === 0) return 'unknown';
    return sides.length === 1 ? sides[0] : sides.map(inParentheses).join(' & ');
  }

  function named(name, schema, indent) {
    if (name === 'array') return `${inParentheses(type(schema.items, indent))}[]`;
    return name === 'object' ? object(schema, indent) : SCALARS[name];
  }

  function object(
    { properties = {}, patternProperties, required = [], additionalProperties: others },
    indent,
  ) {
    const names = Object.keys(properties);
    if (patternProperties !== undefined)
      return `Record<string, ${union(Object.values(patternProperties).map((one) => type(one, indent)))}>`;
    const isOpen = others !== false && (names.length === 0 || others !== undefined);
    const open =
      typeof others === 'object' ? `Record<string, ${type(others, indent)}>` : 'Record<string, unknown>';
    if (names.length === 0) return isOpen ? open : 'Record<string, never>';
    const fields = names.map((name) => ({
      name,
      type: type(properties[name], `${indent}  `),
      optional: !required.includes(name),
      description: properties[name].description,
    }));
    return `${record(fields, indent)}${isOpen ? ` & ${open}` : ''}`;
  }

  function reference(address) {
    const name = address.split('/').at(-1);
    used.add(name);
    return name;
  }

  const resolved = (part) =>
    part.$ref === undefined
      ? part
      : part.$ref
          .split('/')
          .slice(1)
          .reduce((at, key) => at[key], document);
  return { type, resolved };
}

/** A rule between fields, as "one of these two", has no type of its own: prose tells of it, and the reply to a mistake. */
function isType(schema) {
  if (typeof schema !== 'object') return false;
  return (
    ['type', '$ref', 'const', 'enum'].some((name) => name in schema) ||
    [schema.oneOf, schema.anyOf].some((list) => list?.some(isType))
  );
}

function declaration(name, schema, types) {
  const text = types.type(schema, '');
  const isInterface = /^\{\n[\s\S]*\n\}$/.test(text);
  return `${comment(schema.description, '')}export ${isInterface ? `interface ${name} ${text}` : `type ${name} = ${text};`}`;
}

function routesOf(document, name, types) {
  const rows = [];
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item)) {
      if (method === 'parameters' || method === 'servers' || !isForClients(operation, item)) continue;
      const data = dataOf(operation, types);
      if (data === undefined) continue;
      const fields = [
        { name: 'input', type: record(inputOf(operation, item, types), '    ') },
        { name: 'data', type: data },
      ];
      const text = [operation.summary, operation.description].filter((one) => one !== undefined).join('.\n');
      rows.push({ name: `${method.toUpperCase()} ${path}`, type: record(fields, '  '), description: text });
    }
  return `export interface ${name} ${record(rows, '')}`;
}

/** Not what agents ask with keys of their own, and not the documents at the root. */
function isForClients({ security, servers, operationId }, item) {
  const isOfDevice = security?.some((one) => 'deviceKey' in one) === true || operationId === 'enroll';
  return !isOfDevice && servers === undefined && item.servers === undefined;
}

/** The type of what a call resolves with; undefined for streams of events, which have calls of their own. */
function dataOf(operation, types) {
  const found = new Set();
  for (const [status, given] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    const { content } = types.resolved(given);
    const json = content['application/json'];
    const events = content['text/event-stream'];
    if (events !== undefined) {
      types.type(events.schema.contentSchema, '');
      return undefined;
    }
    found.add(json === undefined ? 'Response' : types.type(json.schema.properties.data, '    '));
  }
  return union([...found]);
}

function inputOf(operation, item, types) {
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(types.resolved);
  const has = (name) => parameters.some((one) => one.name === name);
  const group = (place, name) => {
    const found = parameters.filter((one) => one.in === place && !OWN_PARAMETERS.has(one.name));
    if (found.length === 0) return [];
    const fields = found.map(({ name: parameter, schema, required, description }) => ({
      name: parameter,
      type: types.type(schema, '        '),
      optional: required !== true,
      description,
    }));
    return [{ name, type: record(fields, '      '), optional: fields.every(({ optional }) => optional) }];
  };
  const body = operation.requestBody;
  return [
    ...group('path', 'path'),
    ...group('query', 'query'),
    ...group('header', 'headers'),
    ...(body === undefined
      ? []
      : [
          {
            name: 'body',
            type: types.type(body.content['application/json'].schema, '      '),
            optional: body.required !== true,
          },
        ]),
    ...(has('Idempotency-Key') ? [{ ...IDEMPOTENCY_KEY }] : []),
    ...(has('Prefer') ? [{ ...WAIT_SECONDS }] : []),
  ];
}

const IDEMPOTENCY_KEY = {
  name: 'idempotencyKey',
  type: 'string',
  optional: true,
  description: 'Left out, each call has a new one. The same key within 24 hours gives the same reply.',
};
const WAIT_SECONDS = {
  name: 'waitSeconds',
  type: 'number',
  optional: true,
  description: 'Seconds to wait for the end of the job, 60 at most.',
};

function webhooksOf(document, name, types) {
  const messages = Object.values(document.webhooks).map(({ post }) =>
    types.type(post.requestBody.content['application/json'].schema, ''),
  );
  return `/** What is sent to webhooks. */\nexport type ${name} =\n  | ${messages.join('\n  | ')};`;
}

function record(fields, indent) {
  if (fields.length === 0) return '{}';
  const lines = fields.map(({ name, type, optional, description }) => {
    const key = /^[a-zA-Z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const value = optional ? `${key}?: ${type} | undefined` : `${key}: ${type}`;
    return `${comment(description, `${indent}  `)}${indent}  ${value};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function comment(text, indent) {
  if (text === undefined || text === '') return '';
  const lines = text.trim().replaceAll('*/', '*\\/').split('\n');
  return lines.length === 1
    ? `${indent}/** ${lines[0]} */\n`
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function union(types) {
  return [...new Set(types)].join(' | ');
}

function inParentheses(type) {
  return /^[\w.<>]+$/.test(type) || /^\{[\s\S]*\}$/.test(type) ? type : `(${type})`;
}
