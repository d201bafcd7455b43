/** A running service that schemathesis is let loose on: where it is, what opens it, and what there is in it. */

export interface TriedService extends AsyncDisposable {
  /** Of its document: `docs/api/NAME.yaml`. */
  readonly name: string;
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** What opens it, by the names of `components.securitySchemes`. */
  readonly access: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Lists of values that mean something to it, by name: ids, paths, names of destinations. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Where they belong, by operation: `path.id` or `body.source`, and the name of such a list. */
  readonly places: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type Json = Readonly<Record<string, unknown>>;

interface Question {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with POST; asked with GET when left out. */
  readonly body?: object;
}

/** What a reply holds as `data`. @throws {Error} when it is no success */
export async function dataOf(url: string, { headers, body }: Question): Promise<Json> {
  const reply = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${url} answered with ${reply.status}: ${text}`);
  const { data } = JSON.parse(text) as { readonly data: Json };
  return data;
}

export async function idOf(url: string, question: Question): Promise<string> {
  return String((await dataOf(url, question))['id']);
}
