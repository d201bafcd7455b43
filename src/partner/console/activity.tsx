/** The activity page, which shows the audit log: what was changed, by whom and from where. */
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import type { AuditRecord } from '../store/audit-log.ts';
import { Table } from '../../ui/components/table.tsx';
import { Card, PageHead } from '../../ui/components/card.tsx';
import type { ConsoleParts } from './pages.ts';
import type { JSX } from 'preact';
import { olderLink, sendPage } from './page.tsx';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { own, shownTime } from './shown.tsx';
import { visitorOf } from './visitor.ts';

const AT_ONCE = 50;
const ListQuery = Type.Object(
  { before: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);

export function activityPage(app: ApiApp, { stores }: ConsoleParts): void {
  app.get('/activity', { schema: { querystring: ListQuery }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { before } = request.query;
    const { items, next } = await stores.audit.list(visitor.partner.id, { limit: AT_ONCE, before });
    const ids = new Set(items.flatMap((record) => customerOf(record) ?? []));
    const names = await stores.customers.names(visitor.partner.id, [...ids]);
    return sendPage(reply, {
      title: 'Activity',
      section: 'Activity',
      visitor,
      content: (
        <>
          <PageHead title="Activity">
            Every change to this account, newest first. Records cannot be changed or removed.
          </PageHead>
          <Card label="Activity">
            <Table
              label="Activity"
              columns={[{ title: 'When' }, { title: 'What' }, { title: 'By' }, { title: 'Details' }]}
            >
              {items.map((record) => row(record, names))}
            </Table>
            {olderLink(`${CONSOLE_PREFIX}/activity`, next)}
          </Card>
        </>
      ),
    });
  });
}

/** The id of the customer that a record is about, or whose device it is about. */
function customerOf({ target, before, after }: AuditRecord): string | undefined {
  if (target.startsWith('cus_')) return target;
  const named = (after ?? before)?.['customer_id'];
  return typeof named === 'string' ? named : undefined;
}

/** `Bakery Moreau`, or `front-desk, Bakery Moreau`, as they are called now; undefined where there is no name. */
function namesOf(record: AuditRecord, customers: ReadonlyMap<string, string>): string | undefined {
  const id = customerOf(record);
  const customer = id === undefined ? undefined : customers.get(id);
  const device = record.target.startsWith('dev_') ? (record.after ?? record.before)?.['name'] : undefined;
  const names = [device, customer].filter((name) => typeof name === 'string');
  return names.length === 0 ? undefined : names.join(', ');
}

function row(record: AuditRecord, customers: ReadonlyMap<string, string>): JSX.Element {
  const { createdAt, action, target, actor, before, after } = record;
  const names = namesOf(record, customers);
  return (
    <tr>
      <td>{shownTime(createdAt)}</td>
      <td class="name">
        {ACTIONS[action] ?? action}
        {names === undefined ? null : <small>{own(names)}</small>}
        <small>
          <code>{target}</code>
        </small>
      </td>
      <td>
        {ACTORS[actor.name] ?? own(actor.name)}
        <small>{actor.ip}</small>
      </td>
      <td>
        {before === null && after === null ? <span class="quiet">none</span> : detailsOf(before, after)}
      </td>
    </tr>
  );
}

function detailsOf(before: AuditRecord['before'], after: AuditRecord['after']): JSX.Element {
  return (
    <details>
      <summary>Show</summary>
      {before === null ? null : (
        <>
          <h3>Before</h3>
          <pre>{own(JSON.stringify(before, null, 2))}</pre>
        </>
      )}
      {after === null ? null : (
        <>
          <h3>After</h3>
          <pre>{own(JSON.stringify(after, null, 2))}</pre>
        </>
      )}
    </details>
  );
}

const ACTORS: Readonly<Record<string, string>> = {
  api: 'API key',
  'settings page': 'Settings page',
  device: 'Device',
  operator: 'Provider',
  service: 'The service',
};

/** Labels of actions. Other actions are shown by their names. */
const ACTIONS: Readonly<Record<string, string>> = {
  'partner.created': 'Account created',
  'partner.suspended': 'Account suspended',
  'partner.resumed': 'Account resumed',
  'partner.password_changed': 'Password changed',
  'partner.access_reset': 'Password reset, second factor removed',
  'partner.totp_set': 'Second factor set up',
  'partner.totp_removed': 'Second factor removed',
  'session.created': 'Signed in',
  'session.all_ended': 'Signed out everywhere',
  'api_key.generated': 'API key generated',
  'api_key.regenerated': 'API key regenerated',
  'api_key.revoked': 'API key revoked',
  'customer.created': 'Customer added',
  'customer.updated': 'Customer changed',
  'customer.suspended': 'Customer suspended',
  'customer.resumed': 'Customer resumed',
  'customer.deleted': 'Customer deleted',
  'customer.plan_changed': 'Customer plan changed',
  'enrollment_token.created': 'Enrollment token created',
  'device.enrolled': 'Device enrolled',
  'device.removed': 'Device removed',
  'webhook.created': 'Webhook added',
  'webhook.updated': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret_rotated': 'Webhook secret rotated',
  'webhook.tested': 'Webhook tested',
  'webhook.disabled': 'Webhook disabled',
  'order.created': 'Order sent to a device',
  'order.taken': 'Order picked up by a device',
  'snapshot_head.refused': 'Snapshot head from a device refused',
  'delivery.retried': 'Message sent again',
};
