/** The methods of a client, for whichever table of routes. */
import type { Connection } from './connection.ts';
import { type RequestInput, call } from './requests.ts';
import type { Calls } from './route-types.ts';

interface Page {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** @param largestPage how many items a page of this path may have */
export function callsOf<Routes>(
  connection: Connection,
  largestPage: (path: string) => number,
): Calls<Routes> {
  const by =
    (method: string) =>
    async (path: string, input?: RequestInput): Promise<unknown> =>
      await call(connection, method, path, input);

  async function* items(path: string, input: RequestInput = {}): AsyncGenerator<unknown, void, undefined> {
    let { cursor } = input.query ?? {};
    do {
      const query = { limit: largestPage(path), ...input.query, cursor };
      const page = (await call(connection, 'GET', path, { ...input, query })) as Page;
      yield* page.items;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  // The types of the routes are known to whoever calls, and to nobody while it runs.
  const calls: unknown = {
    get: by('GET'),
    post: by('POST'),
    put: by('PUT'),
    patch: by('PATCH'),
    delete: by('DELETE'),
    items,
  };
  return calls as Calls<Routes>;
}
