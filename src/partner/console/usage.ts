/** Usage by day: figures, charts, a table, and all of it as a file. */
import type { ApiApp } from '../../api/route.ts';
import { Type } from '../../base/schema-type.ts';
import { formatBytes } from '../../base/units.ts';
import { CSV_TYPE, csvOf } from '../resources/csv.ts';
import { shownFigures, USAGE_COLUMNS } from '../resources/usage-figures.ts';
import { dayOf } from '../store/metering.ts';
import type { UsageItem, UsageReport } from '../store/usage.ts';
import type { ConsoleParts } from './pages.ts';
import { html, type Markup } from './markup.ts';
import { sendPage } from './page.ts';
import { CONSOLE_PREFIX } from './prefix.ts';
import { PAGE } from './routes.ts';
import { shownCount, shownDay } from './shown.ts';
import { areaChart, barChart } from './usage-chart.ts';
import { visitorOf } from './visitor.ts';

const PATH = `${CONSOLE_PREFIX}/usage`;
const DAY_MS = 86_400_000;
const PERIODS = [30, 90] as const;

const PeriodQuery = Type.Object(
  { days: Type.Optional(Type.Enum(PERIODS.map(String) as ['30', '90'])) },
  { additionalProperties: false },
);

export function usagePage(app: ApiApp, { stores, clock }: ConsoleParts): void {
  app.get('/usage', { schema: { querystring: PeriodQuery }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const days = Number(request.query.days ?? PERIODS[0]);
    const report = await usageOf(visitor.partner.id, days);
    return sendPage(reply, { title: 'Usage', section: 'Usage', visitor, content: contentOf(report, days) });
  });

  app.get(
    '/usage.csv',
    { schema: { querystring: PeriodQuery }, config: { ...PAGE, produces: 'text/csv' } },
    async (request, reply) => {
      const { items } = await usageOf(
        visitorOf(request).partner.id,
        Number(request.query.days ?? PERIODS[0]),
      );
      const name = `usage-${items[0]?.period ?? ''}-${items.at(-1)?.period ?? ''}.csv`;
      reply.header('content-disposition', `attachment; filename="${name}"`);
      return reply.type(CSV_TYPE).send(fileOf(items));
    },
  );

  async function usageOf(partnerId: string, days: number): Promise<UsageReport> {
    const now = clock.now();
    const from = dayOf(now - (days - 1) * DAY_MS);
    return await stores.usage.usage(partnerId, { from, to: dayOf(now), granularity: 'day' });
  }
}

/** As `GET /usage` gives it out. */
function fileOf(items: readonly UsageItem[]): string {
  const rows = items.map((item) => ({ period: item.period, ...shownFigures(item) }));
  return csvOf(
    USAGE_COLUMNS,
    rows.map((row) => USAGE_COLUMNS.map((name) => row[name])),
  );
}

function contentOf({ totals, items }: UsageReport, days: number): Markup {
  const period = `${shownDay(items[0]?.period ?? '')} to ${shownDay(items.at(-1)?.period ?? '')}`;
  const failed = totals.backupsFailed === 0 ? null : `${shownCount(totals.backupsFailed)} failed`;
  return html`<div class="head">
      <h1>Usage</h1>
      <div class="switch" role="group" aria-label="Period">
        ${PERIODS.map(
          (one) =>
            html`<a href="${PATH}?days=${one}" ${one === days ? html` aria-current="page"` : null}
              >${one} days</a
            >`,
        )}
      </div>
      <p>${period}</p>
    </div>
    <div class="tiles">
      ${tile('Stored now', formatBytes(totals.storageBytes))}
      ${tile('Uploaded', formatBytes(totals.uploadedBytes))}
      ${tile('Restored', formatBytes(totals.restoredBytes))}
      ${tile('Backups', shownCount(totals.backupsCompleted), failed)}
      ${tile('Active customers', shownCount(totals.activeCustomers))}
      ${tile('API requests', shownCount(totals.apiRequests))}
    </div>
    <section class="card" aria-labelledby="stored">
      <h2 id="stored">Stored</h2>
      ${areaChart(
        items.map(({ period, storageBytes }) => ({ day: period, value: storageBytes })),
        `Bytes stored on each day, ${period}`,
      )}
    </section>
    <section class="card" aria-labelledby="backups">
      <h2 id="backups">Backups <span class="quiet small-text">completed, and failed in red</span></h2>
      ${barChart(
        items.map((item) => ({ day: item.period, value: item.backupsCompleted, bad: item.backupsFailed })),
        `Backups on each day, ${period}`,
      )}
    </section>
    <section class="card" aria-labelledby="days">
      <h2 id="days">By day</h2>
      <p><a class="button plain" href="${PATH}.csv?days=${days}">Download as CSV</a></p>
      ${dayTable(items)}
    </section>`;
}

function tile(name: string, value: string, below: string | null = null): Markup {
  return html`<div class="tile">
    <span>${name}</span><strong>${value}</strong>${below === null ? null : html`<small>${below}</small>`}
  </div>`;
}

function dayTable(items: readonly UsageItem[]): Markup {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col" class="number">Stored</th>
          <th scope="col" class="number">Uploaded</th>
          <th scope="col" class="number">Restored</th>
          <th scope="col" class="number">Completed</th>
          <th scope="col" class="number">Failed</th>
          <th scope="col" class="number">API requests</th>
        </tr>
      </thead>
      <tbody>
        ${items.toReversed().map(
          (item) =>
            html`<tr>
              <td><time datetime="${item.period}">${shownDay(item.period)}</time></td>
              <td class="number">${formatBytes(item.storageBytes)}</td>
              <td class="number">${formatBytes(item.uploadedBytes)}</td>
              <td class="number">${formatBytes(item.restoredBytes)}</td>
              <td class="number">${shownCount(item.backupsCompleted)}</td>
              <td class="number">${shownCount(item.backupsFailed)}</td>
              <td class="number">${shownCount(item.apiRequests)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
