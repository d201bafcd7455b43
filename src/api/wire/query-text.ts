/**
 * Checks the encoding of queries. The query parser would take a part that is not percent-encoded UTF-8 literally, so
 * that two file names could become one.
 */
import { ApiError } from './api-error.ts';

/** Whether each part of a query, or of a form, decodes. */
export function isEncoded(text: string): boolean {
  return text.split(/[&=]/).every(decodes);
}

/**
 * @param url of the request
 * @throws {ApiError} INVALID_REQUEST
 */
export function requireEncodedQuery(url: string): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  for (const parameter of url.slice(start + 1).split('&')) {
    if (isEncoded(parameter)) continue;
    const [name = ''] = parameter.split('=');
    const field = decodes(name) ? decodeURIComponent(name) : '';
    const message = 'is not percent-encoded UTF-8';
    throw new ApiError('INVALID_REQUEST', field === '' ? `The query ${message}` : `'${field}' ${message}`, {
      hint: 'Write a percent sign as %25. Send a path that is not UTF-8 as base64, in path_b64.',
      details: { field, problems: [{ field, message }] },
    });
  }
}

function decodes(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}
