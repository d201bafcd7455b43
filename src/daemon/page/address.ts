import { PAGE_LIMITS, type PageSessions } from '../../api/access/page-sessions.ts';
import type { PageAddress } from '../../control/calls.ts';

/** Behind a `#`: browsers send that part to nobody, so that it is in no log and no referrer. */
export function pageAddressOf(
  { sessions }: { readonly sessions: PageSessions },
  base: string,
  user: number | null,
): PageAddress {
  return { address: `${base}/#code=${sessions.newCode(user)}`, seconds: PAGE_LIMITS.codeMs / 1000 };
}
