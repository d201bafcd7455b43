/** Makes a request of what was typed into a form of the reference page, and the command for curl that sends the same. */

export interface TypedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** @param token empty for none */
export function requestOf(form: HTMLFormElement, token: string): TypedRequest {
  const { method = 'GET', path = '/' } = form.dataset;
  const typed = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-in]')].filter(
    ({ value }) => value !== '',
  );
  const at = (place: string) => typed.filter((field) => field.dataset['in'] === place);
  const query = new URLSearchParams(at('query').map(({ name, value }) => [name, value])).toString();
  const body = form.querySelector<HTMLTextAreaElement>('[data-body]')?.value;
  return {
    method,
    path:
      at('path').reduce(
        (made, { name, value }) => made.replace(`{${name}}`, encodeURIComponent(value)),
        path,
      ) + (query === '' ? '' : `?${query}`),
    headers: {
      ...(body === undefined || body === '' ? {} : { 'content-type': 'application/json' }),
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...Object.fromEntries(at('header').map(({ name, value }) => [name.toLowerCase(), value])),
    },
    body: body === '' ? undefined : body,
  };
}

/** The token stands as `$TOKEN`, so that the command can be shown and copied without it. */
export function curlOf(
  { method, path, headers, body }: TypedRequest,
  origin: string,
  needsToken: boolean,
): string {
  const words = [
    method === 'GET' ? 'curl -s' : `curl -s -X ${method}`,
    quoted(origin + path),
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ];
  return words.join(' \\\n  ');
}

/** Quoted for a shell. The script of the page, which has the same with more cases, is not loaded here. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
