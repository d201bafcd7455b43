/** Makes a request of what was typed into a form of the reference page, and the command for curl that sends the same. */

export interface TypedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * @param token empty for none
 * @param missing whether a field that is needed and still empty is left out, or has the sample that it shows
 */
export function requestOf(
  form: HTMLFormElement,
  token: string,
  missing: 'left out' | 'sample' = 'left out',
): TypedRequest {
  const { method = 'GET', path = '/' } = form.dataset;
  const typed = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-in]')]
    .map((field) => ({
      name: field.name,
      place: field.dataset['in'],
      value: field.value === '' && missing === 'sample' ? sampleOf(field) : field.value,
    }))
    .filter(({ value }) => value !== '');
  const at = (place: string) => typed.filter((field) => field.place === place);
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

/** Empty where none is needed. In paths `{id}` stands for itself. */
function sampleOf(field: HTMLInputElement | HTMLSelectElement): string {
  if (!field.required || field.dataset['in'] === 'path') return '';
  const shown = 'placeholder' in field ? field.placeholder : '';
  return shown === '' ? field.name.toUpperCase() : shown;
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
