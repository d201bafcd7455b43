/** Judges replies by a document of docs/api, which is what the services give out of themselves. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { parse } from 'yaml';

export interface JudgedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly text: string;
}

export interface OpenApiSchema {
  readonly [keyword: string]: unknown;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly required?: boolean;
  readonly schema: OpenApiSchema;
}

export interface Header {
  readonly required?: boolean;
  readonly schema: OpenApiSchema;
}

interface Response {
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: OpenApiSchema }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;
type Method = (typeof METHODS)[number];

type PathItem = Readonly<Partial<Record<Method, Operation>>> & {
  readonly servers?: readonly object[];
  readonly parameters?: readonly OpenApiParameter[];
};

export interface OpenApiDocument {
  readonly info: object;
  readonly tags?: readonly { readonly name: string }[];
  readonly security?: readonly object[];
  readonly webhooks?: Readonly<Record<string, PathItem>>;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
  };
}

export interface DocumentedRoute {
  readonly method: string;
  /** As `/backup/{id}`. */
  readonly path: string;
  /** Below the prefixes, rather than at the root. */
  readonly versioned: boolean;
  readonly operation: Operation;
  /** Of the path and the operation. */
  readonly parameters: readonly OpenApiParameter[];
}

/** A document of docs/api, and what replies are held against it. */
export interface OpenApiJudge {
  /** As it is written: with references. */
  readonly document: OpenApiDocument;
  readonly routes: readonly DocumentedRoute[];
  /** What a `$ref` to the document means; anything else is itself. */
  readonly dereference: <T extends object>(value: T) => T;
  /**
   * Holds a reply against the document: status, required headers, media type and body.
   * @throws {Error} that names the place of the fault
   */
  readonly judge: (method: string, target: string, reply: JudgedReply) => void;
  /** What is wrong with a value by a schema of the document. */
  readonly faultsOf: (schema: OpenApiSchema, value: unknown) => readonly string[];
}

/** @param versioned the prefix of a path that is not at the root, up to its next slash */
export function openJudge(name: string, versioned: RegExp): OpenApiJudge {
  const file = path.resolve(import.meta.dirname, `../../docs/api/${name}.yaml`);
  const ID = `https://holdfast.test/${name}`;
  const document: OpenApiDocument = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 });
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  ajvFormats.default(ajv);
  ajv.addSchema({ ...document, $id: ID });
  const texts = new Ajv2020({ strict: false, coerceTypes: true, validateSchema: false });
  ajvFormats.default(texts);
  const headerChecks = new WeakMap<OpenApiSchema, ValidateFunction>();
  const validators = new Map<string, ValidateFunction>();

  function dereference<T extends object>(value: T): T {
    if (!('$ref' in value) || typeof value.$ref !== 'string') return value;
    let found: unknown = document;
    for (const part of value.$ref.replace('#/', '').split('/')) {
      found = (found as Readonly<Record<string, unknown>>)[part];
    }
    if (found === undefined) throw new Error(`${name}.yaml has no ${value.$ref}`);
    return dereference(found as T);
  }

  function readRoutes(): readonly DocumentedRoute[] {
    return Object.entries(document.paths).flatMap(([template, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method];
        if (operation === undefined) return [];
        const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(dereference);
        return [
          {
            method: method.toUpperCase(),
            path: template,
            versioned: item.servers === undefined,
            operation,
            parameters,
          },
        ];
      }),
    );
  }

  const routes = readRoutes();

  function judge(method: string, target: string, reply: JudgedReply): void {
    const where = `${method} ${target} ${reply.status}`;
    const fault = (text: string): Error => new Error(`${where}: ${text}\n${reply.text.slice(0, 2_000)}`);
    const found = responseName(method, target, reply);
    if (found === undefined) throw fault('the document has no such reply');
    const { pointer, response } = found;
    for (const [header, { required, schema }] of Object.entries(response.headers ?? {}).map(headerOf)) {
      const value = reply.headers[header.toLowerCase()];
      if (value === undefined) {
        if (required === true) throw fault(`the header ${header} is missing`);
        continue;
      }
      const check = headerCheck(schema);
      if (!check({ value: String(value) }))
        throw fault(`${header}: ${String(value)} ${texts.errorsText(check.errors ?? [])}`);
    }
    if (method === 'HEAD') return;
    const media = String(reply.headers['content-type'] ?? '').split(';')[0] ?? '';
    const content = response.content ?? {};
    if (content[media] === undefined) {
      throw fault(`the media type is '${media}', not one of ${Object.keys(content).join(', ')}`);
    }
    const place = `${pointer}/content/${media.replace('/', '~1')}/schema`;
    if (media === 'application/json') {
      requireValid(place, JSON.parse(reply.text), fault);
    } else if (media === 'text/event-stream') {
      for (const data of eventData(reply.text)) requireValid(`${place}/contentSchema`, data, fault);
    }
  }

  function headerCheck(schema: OpenApiSchema): ValidateFunction {
    const known = headerChecks.get(schema);
    if (known !== undefined) return known;
    const check = texts.compile({ type: 'object', properties: { value: schema } });
    headerChecks.set(schema, check);
    return check;
  }

  function headerOf([name, header]: [string, Header]): [string, Header] {
    return [name, dereference(header)];
  }

  function responseName(
    method: string,
    target: string,
    { status }: JudgedReply,
  ): { readonly pointer: string; readonly response: Response } | undefined {
    const operation = operationAt(method, target);
    const found = operation?.item.responses[status];
    if (operation !== undefined && found !== undefined) {
      const reference = '$ref' in found ? String(found.$ref).slice(1) : undefined;
      return {
        pointer: reference ?? `${operation.pointer}/responses/${status}`,
        response: dereference(found),
      };
    }
    const general = operation === undefined ? WITHOUT_OPERATION[status] : undefined;
    const response = general === undefined ? undefined : document.components.responses[general];
    return response === undefined ? undefined : { pointer: `/components/responses/${general}`, response };
  }

  function operationAt(
    method: string,
    target: string,
  ): { readonly pointer: string; readonly item: Operation } | undefined {
    const pathname = target.split('?')[0] ?? '';
    const prefix = versioned.exec(pathname)?.[0];
    const rest = pathname.slice(prefix?.length ?? 0);
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
    const route = routes.find(
      ({ path: template, versioned: below, method: has }) =>
        has.toLowerCase() === wanted && below === (prefix !== undefined) && matches(template, rest),
    );
    if (route === undefined) return undefined;
    const escaped = encodeURI(route.path.replaceAll('/', '~1'));
    return { pointer: `/paths/${escaped}/${wanted}`, item: route.operation };
  }

  function requireValid(pointer: string, value: unknown, fault: (text: string) => Error): void {
    let validate = validators.get(pointer);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `${ID}#${pointer}` });
      validators.set(pointer, validate);
    }
    if (validate(value)) return;
    const errors = (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    throw fault(errors.join('; '));
  }

  function faultsOf(schema: OpenApiSchema, value: unknown): readonly string[] {
    const placed = JSON.parse(JSON.stringify(schema).replaceAll('"#/', `"${ID}#/`)) as OpenApiSchema;
    return ajv.validate(placed, value)
      ? []
      : (ajv.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  }

  return { document, routes, dereference, judge, faultsOf };
}

/** Whatever no operation can say: there is none for the path, or the request was refused before it was known. */
const WITHOUT_OPERATION: Readonly<Record<string, string>> = {
  400: 'BadQuery',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  503: 'Unavailable',
};

function matches(template: string, given: string): boolean {
  const parts = given.split('/');
  const wanted = template.split('/');
  return (
    parts.length === wanted.length &&
    wanted.every((part, index) => (part.startsWith('{') ? parts[index] !== '' : part === parts[index]))
  );
}

/** What the events of a stream carry. */
export function eventData(text: string): readonly unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown);
}
