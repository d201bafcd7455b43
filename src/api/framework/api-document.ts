/**
 * The description of an API (OpenAPI 3.1) as docs/api has it: one document for whoever reads it there, asks /openapi.json
 * or looks at /docs. Tests hold the routes against it, and every reply.
 */
import { readFile } from 'node:fs/promises';
import { StateError } from '../../base/errors.ts';
import { npmHere } from '../../base/holdfast-command.ts';

/** Plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** What the document does not know of the program that gives it out. */
export interface Deployment {
  /** Of the program. */
  readonly version: string;
  /** Where it is reached, as https://backup.example.org; undefined where nobody has said so. */
  readonly baseUrl: string | undefined;
}

/** Beside the compiled program, and where the build leaves it when the sources are run. */
const BUILT = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/documents/' : '../../documents/',
  import.meta.url,
);

/** It is read when it is asked for: seldom, and 150 KB. @throws {StateError} READ_ERROR */
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
