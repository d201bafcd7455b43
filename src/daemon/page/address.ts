import { PAGE_LIMITS, type PageSessions } from '../../api/access/page-sessions.ts';
import type { PageAddress } from '../../control/calls.ts';

/** The code comes after a `#`: browsers do not send that part to a server, so it is in no log and no referrer. */
export function pageAddressOf(
  { sessions }: { readonly sessions: PageSessions },
  base: string,
  user: number | null,
): PageAddress {
  return { address: `${base}/#code=${sessions.newCode(user)}`, seconds: PAGE_LIMITS.codeMs / 1000 };
}
