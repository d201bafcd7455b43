/** Security headers of every response. None of them lets another site's page read a response. */

const POLICY =
  "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'none'";

/**
 * The policy of the product's own page. Text cannot become markup, not even through a mistake in the page's script.
 * `blob:` is for pictures from snapshots, which are shown from memory.
 */
export const PAGE_POLICY = `${POLICY}; img-src 'self' blob:; require-trusted-types-for 'script'; trusted-types 'none'`;

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
