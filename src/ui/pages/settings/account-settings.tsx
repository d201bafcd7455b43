/** Shows the plan, its limit, and the Partner service that manages this machine, if any. */
import type { JSX } from 'preact';
import { holdfast } from '../../agent/program.ts';
import type { Account } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { formatCount, formatSpan } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { hrefOf, type Route } from '../../parts/route.ts';
import { LimitMeter } from './limit-meter.tsx';
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
          <Card title={account.plan}>
            <Facts
              rows={[
                [account.planName, account.plans[data.plan] ?? <Own key="plan">{data.plan}</Own>],
                [
                  account.planLimit,
                  account.perSpan(
                    formatCount(data.rate_limit.limit),
                    formatSpan(data.rate_limit.window_seconds),
                  ),
                ],
                [account.planFrom, data.partner === null ? account.planOfSettings : account.planOfPartner],
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
