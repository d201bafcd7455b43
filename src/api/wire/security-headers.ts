/** Headers of every response, whatever it says. There is none that lets another site's page read it. */

const POLICY =
  "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'none'";

/**
 * Of the product's own page: text cannot become markup, not even by a mistake in its script. Pictures from snapshots are
 * shown from memory.
 */
export const PAGE_POLICY = `${POLICY}; img-src 'self' blob:; require-trusted-types-for 'script'; trusted-types 'none'`;

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The policy of a page that carries one style sheet inside, given by its SHA-256 in base64. */
export function policyWithStyle(sha256: string): string {
  return `${POLICY}; style-src 'self' 'sha256-${sha256}'`;
}
