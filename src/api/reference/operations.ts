/** The requests of an API, as the reference page lists them. */
import type { Json, JsonObject } from './api-document.ts';
import { entries, field, list, text } from './document-reader.ts';

export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Before the path in the URL. */
  readonly prefix: string;
  /** The path item, which holds what all methods of the path share. */
  readonly item: Json;
  readonly operation: Json;
}

const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

export function operationsOf(document: JsonObject, tag: Json): readonly DocumentedOperation[] {
  return entries(field(document, 'paths')).flatMap(([path, item]) =>
    entries(item)
      .filter(
        ([method, operation]) => METHODS.includes(method) && list(field(operation, 'tags')).includes(tag),
      )
      .map(([method, operation]) => ({
        id: text(field(operation, 'operationId')),
        method,
        path,
        prefix: prefixOf(field(item, 'servers') ?? field(document, 'servers')),
        item,
        operation,
      })),
  );
}

/** What follows the variable `{base_url}` in the URL of the first server. */
function prefixOf(servers: Json): string {
  return text(field(list(servers)[0], 'url')).replace('{base_url}', '');
}
