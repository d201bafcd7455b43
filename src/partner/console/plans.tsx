/** The page of the plans, which are the same for all partners. */
import type { JSX } from 'preact';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import { formatBytes } from '../../base/units.ts';
import { Card, PageHead } from '../../ui/components/card.tsx';
import { Table } from '../../ui/components/table.tsx';
import type { Plan } from '../store/plans.ts';
import type { ConsoleParts } from './pages.ts';
import { sendPage } from './page.tsx';
import { PAGE } from './routes.ts';
import { own, shownCount, tag } from './shown.tsx';
import { visitorOf } from './visitor.ts';

const NoQuery = Type.Object({}, { additionalProperties: false });
const COLUMNS = ['Plan', 'Storage', 'Devices', 'Desktop API', 'Trial', 'Per month'].map((title) => ({
  title,
}));

export function plansPage(app: ApiApp, { stores }: ConsoleParts): void {
  app.get('/plans', { schema: { querystring: NoQuery }, config: PAGE }, async (request, reply) => {
    const plans = await stores.plans.list();
    return sendPage(reply, {
      title: 'Plans',
      section: 'Plans',
      visitor: visitorOf(request),
      content: (
        <>
          <PageHead title="Plans">
            The plans your customers can have. You change a customer’s plan on their page. New limits reach
            their devices within a minute.
          </PageHead>
          <Card label="Plans">
            <Table label="Plans" columns={COLUMNS}>
              {plans.map(row)}
            </Table>
          </Card>
        </>
      ),
    });
  });
}

function row(plan: Plan): JSX.Element {
  return (
    <tr>
      <td class="name">
        {own(plan.name)} {plan.active ? null : tag('Not for new customers')}
        <small>
          <code>{plan.id}</code>
        </small>
      </td>
      <td>{formatBytes(plan.storageLimitBytes)}</td>
      <td>{shownCount(plan.deviceLimit)}</td>
      <td>{shownCount(plan.desktopRequestsPerHour)} requests per hour</td>
      <td>{plan.trialDays === null ? <span class="quiet">none</span> : `${plan.trialDays} days`}</td>
      <td>{shownPrice(plan.price)}</td>
    </tr>
  );
}

/** Such as `9.90 EUR`. */
function shownPrice({ cents, currency }: Plan['price']): string {
  return cents === 0 ? 'Free' : `${(cents / 100).toFixed(2)} ${currency}`;
}
