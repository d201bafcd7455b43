/**
 * Reads the OpenAPI 3.1 description of an API, built from docs/api. The same document serves /openapi.json and /docs,
 * and tests check every route and reply against it.
 */
import { readFile } from 'node:fs/promises';
import { StateError } from '../../base/errors.ts';
import { npmHere } from '../../base/holdfast-command.ts';

/** Plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** The facts about the running program that the built document lacks. */
export interface Deployment {
  /** Version of the program. */
  readonly version: string;
  /** Base URL of the API, such as https://backup.example.org; undefined when it is not known. */
  readonly baseUrl: string | undefined;
}

/** Directory of the built documents: next to the compiled program, or in dist when run from the sources. */
const BUILT = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/documents/' : '../../documents/',
  import.meta.url,
);

/**
 * Reads the document on each call and keeps nothing: it has 150 KB and is rarely asked for.
 * @throws {StateError} READ_ERROR
 */
export async function apiDocument(
  name: 'desktop' | 'partner',
  { version, baseUrl }: Deployment,
): Promise<JsonObject> {
  const { info, servers, paths, ...document }: Written = JSON.parse(await textOf(name));
  const reached = (list: readonly WrittenServer[]): readonly JsonObject[] =>
    list.map((server) => (baseUrl === undefined ? server : atBaseUrl(server, baseUrl)));
  const placed = Object.entries(paths).map(([path, item]): [string, JsonObject] => [
    path,
    item.servers === undefined ? item : { ...item, servers: reached(item.servers) },
  ]);
  return {
    ...document,
    info: { ...info, version },
    servers: reached(servers),
    paths: Object.fromEntries(placed),
  };
}

interface Written extends JsonObject {
  readonly info: JsonObject;
  readonly servers: readonly WrittenServer[];
  readonly paths: { readonly [path: string]: JsonObject & { readonly servers?: readonly WrittenServer[] } };
}

interface WrittenServer extends JsonObject {
  readonly variables: { readonly base_url: JsonObject };
}

function atBaseUrl(server: WrittenServer, baseUrl: string): JsonObject {
  return { ...server, variables: { base_url: { ...server.variables.base_url, default: baseUrl } } };
}

async function textOf(name: string): Promise<string> {
  try {
    return await readFile(new URL(`${name}.json`, BUILT), 'utf8');
  } catch (cause) {
    throw new StateError('READ_ERROR', 'The description of the API is not built', {
      hint: `Build it with: ${npmHere('run build')}`,
      cause,
    });
  }
}
