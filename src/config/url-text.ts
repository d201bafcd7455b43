/** Checks URLs in the configuration: their form, and that they contain no secret. */
import { RequestError } from '../base/errors.ts';
import { isFromRoot, isHome } from './settings-context.ts';
import { secretInUrl } from '../base/url-secrets.ts';

/**
 * Checks a web address: http or https, without a secret.
 * @throws {RequestError} SECRET_IN_URL, INVALID_URL
 */
export function checkWebUrl(text: string): void {
  refuseSecretInUrl(
    text,
    'Take it out, and give it as a reference such as {"file": "/path"} where the setting has one.',
  );
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new RequestError('INVALID_URL', 'This is not a web address', {
      hint: 'Write it in full: https://host/path.',
    });
  }
}

/**
 * Checks the path or URL of a destination. Which kinds of URL exist is checked by the destinations themselves.
 * @throws {RequestError} SECRET_IN_URL, INVALID_DESTINATION
 */
export function checkLocation(text: string): void {
  refuseSecretInUrl(text, 'Take it out, and name a place for it in "passphrase" or "access".');
  if (isPath(text) || /^[a-z][a-z0-9+.-]*:/i.test(text)) return;
  throw new RequestError('INVALID_DESTINATION', 'This is neither an absolute path nor a URL', {
    hint: 'Write a directory in full (/mnt/backup, ~/backup) or a URL (file:///mnt/backup).',
  });
}

function isPath(text: string): boolean {
  return isFromRoot(text) || isHome(text);
}

/** The message does not repeat the URL. @throws {RequestError} SECRET_IN_URL */
function refuseSecretInUrl(text: string, hint: string): void {
  const where = isPath(text) ? undefined : secretInUrl(text);
  if (where !== undefined) throw new RequestError('SECRET_IN_URL', `The URL contains ${where}`, { hint });
}
