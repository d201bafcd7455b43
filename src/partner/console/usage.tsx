/** The usage page: figures, charts and a table by day, and all of it as a CSV file. */
import type { JSX } from 'preact';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import { formatBytes } from '../../base/units.ts';
import { Card, PageHead } from '../../ui/components/card.tsx';
import { AreaChart, BarChart, type Point } from '../../ui/components/chart.tsx';
import { Table, Tile, Tiles } from '../../ui/components/table.tsx';
import { CSV_TYPE, csvOf, shownFigures, USAGE_COLUMNS } from '../resources/usage-figures.ts';
import { dayOf } from '../store/metering.ts';
import type { UsageItem, UsageReport } from '../store/usage.ts';
import { sendPage } from './page.tsx';
import type { ConsoleParts } from './pages.ts';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { shownCount, shownDay } from './shown.tsx';
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

/** The same file as from `GET /usage`. */
function fileOf(items: readonly UsageItem[]): string {
  const rows = items.map((item) => ({ period: item.period, ...shownFigures(item) }));
  return csvOf(
    USAGE_COLUMNS,
    rows.map((row) => USAGE_COLUMNS.map((name) => row[name])),
  );
}

function contentOf({ totals, items }: UsageReport, days: number): JSX.Element {
  const period = `${shownDay(items[0]?.period ?? '')} to ${shownDay(items.at(-1)?.period ?? '')}`;
  const failed = totals.backupsFailed === 0 ? null : `${shownCount(totals.backupsFailed)} failed`;
  return (
    <>
      <PageHead
        title="Usage"
        actions={
          <div class="switch" role="group" aria-label="Period">
            {PERIODS.map((one) => (
              <a href={`${PATH}?days=${one}`} aria-current={one === days ? 'page' : undefined}>
                {one} days
              </a>
            ))}
          </div>
        }
      >
        {period}
      </PageHead>
      <Tiles>
        {tile('Stored now', formatBytes(totals.storageBytes))}
        {tile('Uploaded', formatBytes(totals.uploadedBytes))}
        {tile('Restored', formatBytes(totals.restoredBytes))}
        {tile('Backups', shownCount(totals.backupsCompleted), failed)}
        {tile('Active customers', shownCount(totals.activeCustomers))}
        {tile('API requests', shownCount(totals.apiRequests))}
      </Tiles>
      <Card title="Stored">
        {areaChart(
          items.map(({ period, storageBytes }) => ({ day: period, value: storageBytes })),
          `Bytes stored per day, ${period}`,
        )}
      </Card>
      <Card
        title={
          <>
            Backups <span class="quiet small-text">completed, and failed in red</span>
          </>
        }
      >
        {barChart(
          items.map((item) => ({ day: item.period, value: item.backupsCompleted, bad: item.backupsFailed })),
          `Backups per day, ${period}`,
        )}
      </Card>
      <Card title="By day">
        <p>
          <a class="button plain" href={`${PATH}.csv?days=${days}`}>
            Download as CSV
          </a>
        </p>
        {dayTable(items)}
      </Card>
    </>
  );
}

function tile(name: string, value: string, below: string | null = null): JSX.Element {
  const facts = below === null ? { name } : { name, note: below };
  return <Tile {...facts}>{value}</Tile>;
}

function dayTable(items: readonly UsageItem[]): JSX.Element {
  return (
    <Table
      label="Usage by day"
      columns={[
        { title: 'Day' },
        { title: 'Stored', isNumber: true },
        { title: 'Uploaded', isNumber: true },
        { title: 'Restored', isNumber: true },
        { title: 'Completed', isNumber: true },
        { title: 'Failed', isNumber: true },
        { title: 'API requests', isNumber: true },
      ]}
    >
      {items.toReversed().map((item) => (
        <tr>
          <td>
            <time datetime={item.period}>{shownDay(item.period)}</time>
          </td>
          <td class="number">{formatBytes(item.storageBytes)}</td>
          <td class="number">{formatBytes(item.uploadedBytes)}</td>
          <td class="number">{formatBytes(item.restoredBytes)}</td>
          <td class="number">{shownCount(item.backupsCompleted)}</td>
          <td class="number">{shownCount(item.backupsFailed)}</td>
          <td class="number">{shownCount(item.apiRequests)}</td>
        </tr>
      ))}
    </Table>
  );
}

export interface DayValue {
  readonly day: string;
  readonly value: number;
  /** Drawn on top of `value`, in another colour. */
  readonly bad?: number;
}

/** Charts by day. The table below them has the same figures. */
function areaChart(values: readonly DayValue[], title: string): JSX.Element {
  return (
    <AreaChart
      points={values.map(pointOf)}
      label={title}
      unit="bytes"
      shownValue={formatBytes}
      shownTime={dayAt}
    />
  );
}

function barChart(values: readonly DayValue[], title: string): JSX.Element {
  return (
    <BarChart
      points={values.map(pointOf)}
      label={title}
      unit="count"
      shownValue={shownCount}
      shownTime={dayAt}
      shownBar={({ at, value, bad = 0 }) =>
        `${dayAt(at)}: ${shownCount(value)} completed, ${shownCount(bad)} failed`
      }
    />
  );
}

function pointOf({ day, ...value }: DayValue): Point {
  return { at: Date.parse(day), ...value };
}

function dayAt(at: number): string {
  return shownDay(new Date(at).toISOString().slice(0, 10));
}
