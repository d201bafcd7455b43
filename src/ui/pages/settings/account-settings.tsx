/** Shows the plan, its limit, and the Partner service that manages this machine, if any. */
import type { ComponentChildren, JSX } from 'preact';
import type { Account } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { holdfast } from '../../agent/program.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { formatAge, formatCount, formatSpan } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { hrefOf, type Route } from '../../parts/route.ts';
import { EnrollCard, PartnerCard } from './partner-card.tsx';

export function AccountSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  const { account } = t;
  const asked = useAsked((signal) => ask<Account>('GET', '/account', { signal }), []);
  const { data } = asked;
  return (
    <>
      <PageHead title={t.settings.pages.account} />
      <Problem error={asked.problem} />
      {data === undefined && asked.isBusy ? <p class="quiet">{t.common.loading}</p> : null}
      {data === undefined ? null : (
        <>
          <Card title={data.partner === null ? account.planLimit : account.plan}>
            <Facts
              rows={[
                ...planRows(data),
                [
                  account.planLimit,
                  account.perSpan(
                    formatCount(data.rate_limit.limit),
                    formatSpan(data.rate_limit.window_seconds),
                  ),
                ],
              ]}
            />
            <LimitMeter limit={data.rate_limit} />
            <p class="quiet small-text">
              {account.limitNote} <a href={hrefOf(['settings', 'access'])}>{t.settings.pages.access}</a>
            </p>
          </Card>
          {data.partner === null ? (
            <EnrollCard onEnrolled={asked.again} />
          ) : (
            <PartnerCard partner={data.partner} onLeft={asked.again} />
          )}
        </>
      )}
      <Card title={account.learns}>
        <p>{account.learnsWhat}</p>
        <ul>
          {account.learnsList.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        <p>{account.learnsNot}</p>
      </Card>
      <Command
        lines={
          data?.partner === null || data === undefined
            ? [holdfast`enroll https://HOST`, holdfast`config get plan`]
            : [holdfast`enroll --status`, holdfast`enroll --leave`]
        }
      />
    </>
  );
}

/** Without a partner the name of the plan says nothing to people: it only limits programs. */
function planRows({ plan, partner }: Account): readonly (readonly [string, ComponentChildren])[] {
  if (partner === null) return [];
  const { planName, plans } = t.account;
  return [[planName, plans[plan] ?? <Own key="plan">{plan}</Own>]];
}

/** Shows how much of the plan's request limit for programs is used up. */
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
