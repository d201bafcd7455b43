/** The audit log: what was done, by whom and from where. */
import type { ApiApp } from '../../api/route.ts';
import { Type } from '../../base/schema-type.ts';
import type { AuditRecord } from '../store/audit-log.ts';
import type { ConsoleParts } from './pages.ts';
import { html, type Markup } from './markup.ts';
import { olderLink, sendPage } from './page.ts';
import { CONSOLE_PREFIX } from './prefix.ts';
import { PAGE } from './routes.ts';
import { own, shownTime } from './shown.ts';
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
    return sendPage(reply, {
      title: 'Activity',
      section: 'Activity',
      visitor,
      content: html`<div class="head">
          <h1>Activity</h1>
          <p>Each change of this account, the newest first. No record can be changed or removed.</p>
        </div>
        <section class="card" aria-label="Activity">
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">When</th>
                  <th scope="col">What</th>
                  <th scope="col">By</th>
                  <th scope="col">Details</th>
                </tr>
              </thead>
              <tbody>
                ${items.map(row)}
              </tbody>
            </table>
          </div>
          ${olderLink(`${CONSOLE_PREFIX}/activity`, next)}
        </section>`,
    });
  });
}

function row({ createdAt, action, target, actor, before, after }: AuditRecord): Markup {
  return html`<tr>
    <td>${shownTime(createdAt)}</td>
    <td class="name">
      ${ACTIONS[action] ?? action}<small><code>${target}</code></small>
    </td>
    <td>${ACTORS[actor.name] ?? own(actor.name)}<small>${actor.ip}</small></td>
    <td>
      ${before === null && after === null ? html`<span class="quiet">none</span>` : detailsOf(before, after)}
    </td>
  </tr>`;
}

function detailsOf(before: AuditRecord['before'], after: AuditRecord['after']): Markup {
  return html`<details>
    <summary>Show</summary>
    ${
      before === null
        ? null
        : html`<h3>Before</h3>
            <pre>${own(JSON.stringify(before, null, 2))}</pre>`
    }
    ${
      after === null
        ? null
        : html`<h3>After</h3>
            <pre>${own(JSON.stringify(after, null, 2))}</pre>`
    }
  </details>`;
}

const ACTORS: Readonly<Record<string, string>> = {
  api: 'API key',
  'settings page': 'Settings page',
  device: 'Device',
  operator: 'Provider',
  service: 'The service',
};

/** Others are shown as they are. */
const ACTIONS: Readonly<Record<string, string>> = {
  'partner.created': 'Account made',
  'partner.suspended': 'Account suspended',
  'partner.resumed': 'Account resumed',
  'partner.password_changed': 'Password changed',
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
  'customer.plan_changed': 'Plan of a customer changed',
  'enrollment_token.created': 'Enrollment token made',
  'device.enrolled': 'Device enrolled',
  'device.removed': 'Device removed',
  'webhook.created': 'Webhook added',
  'webhook.updated': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret_rotated': 'Webhook secret rotated',
  'webhook.tested': 'Webhook tested',
  'webhook.disabled': 'Webhook disabled',
  'order.created': 'Order given to a device',
  'order.taken': 'Order taken by a device',
  'snapshot_head.refused': 'Snapshot head of a device refused',
  'delivery.retried': 'Message sent again',
};
