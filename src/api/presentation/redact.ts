/** Shows destinations without their secrets. */

/** Query parameters that say where something is. Any other may be a secret. */
const SHOWN_PARAMETERS = new Set(['endpoint', 'region', 'path_style', 'account']);

/** Returns the name of a destination unchanged; of a URL, everything except the password and unknown parameters. */
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
