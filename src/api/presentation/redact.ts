/** Destinations without what must not be shown. */

/** Parts of a query that say where something is; any other may be a secret. */
const SHOWN_PARAMETERS = new Set(['endpoint', 'region', 'path_style', 'account']);

/** The name of a destination as it is; of a URL, everything but the password and unknown parameters. */
export function shownDestination(destination: string): string {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?/i.exec(destination);
  if (match === null) return destination;
  const [, scheme = '', account, rest = '', query] = match;
  const user = account?.split(':')[0] ?? '';
  const shown = (query ?? '')
    .split('&')
    .filter((parameter) => SHOWN_PARAMETERS.has(parameter.split('=')[0] ?? ''))
    .join('&');
  return `${scheme}${user === '' ? '' : `${user}@`}${rest}${shown === '' ? '' : `?${shown}`}`;
}
