/** Shows how much of the plan's request limit for programs is used up. */
import type { JSX } from 'preact';
import type { Account } from '../../../api/schemas/page/settings.ts';
import { formatAge, formatCount, formatSpan } from '../../language/format.ts';
import { t } from '../../language/language.ts';

export function LimitMeter({ limit: facts }: { readonly limit: Account['rate_limit'] }): JSX.Element {
  const { limit, remaining, reset, window_seconds: span } = facts;
  const used = Math.max(0, limit - remaining);
  const words = t.access.limitUsed(formatCount(used), formatCount(limit), formatSpan(span));
  return (
    <div class="limit">
      <meter
        min={0}
        max={Math.max(1, limit)}
        high={limit * 0.8}
        optimum={0}
        value={used}
        aria-label={t.access.limit}
      >
        {words}
      </meter>
      <p>
        {words} {used === 0 ? null : t.access.limitFree(formatAge(reset * 1_000))}
      </p>
    </div>
  );
}
