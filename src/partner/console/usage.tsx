/** The usage page: figures, charts and a table by day, of all customers or of one, and CSV files for spreadsheets and bills. */
import type { JSX } from 'preact';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import { formatBytes } from '../../base/units.ts';
import { Card, PageHead } from '../../ui/components/card.tsx';
import { AreaChart, BarChart, type Point } from '../../ui/components/chart.tsx';
import { Table, Tile, Tiles } from '../../ui/components/table.tsx';
import { noCustomer } from '../resources/customers.ts';
import { everyCustomer } from '../resources/usage.ts';
import { CSV_TYPE, csvOf, customersCsv, shownFigures, USAGE_COLUMNS } from '../resources/usage-figures.ts';
import { dayOf } from '../store/metering.ts';
import type { UsageItem, UsageReport } from '../store/usage.ts';
import type { DayRange } from '../store/usage-by-customer.ts';
import { sendPage } from './page.tsx';
import type { ConsoleParts } from './pages.ts';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { own, shownCount, shownDay } from './shown.tsx';
import { visitorOf } from './visitor.ts';

const PATH = `${CONSOLE_PREFIX}/usage`;
const DAY_MS = 86_400_000;
const PERIODS = [30, 90] as const;

const PeriodQuery = Type.Object(
  {
    days: Type.Optional(Type.Enum(PERIODS.map(String) as ['30', '90'])),
    customer: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  },
  { additionalProperties: false },
);
const MonthQuery = Type.Object(
  { month: Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$' }) },
  { additionalProperties: false },
);

export function usagePage(app: ApiApp, { stores, clock }: ConsoleParts): void {
  app.get('/usage', { schema: { querystring: PeriodQuery }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const days = Number(request.query.days ?? PERIODS[0]);
    const customer = await customerOf(visitor.partner.id, request.query.customer);
    const report = await usageOf(visitor.partner.id, days, customer?.id);
    const content = contentOf(report, { days, customer, months: lastMonths(clock.now()) });
    return sendPage(reply, { title: 'Usage', section: 'Usage', visitor, content });
  });

  app.get(
    '/usage.csv',
    { schema: { querystring: PeriodQuery }, config: { ...PAGE, produces: 'text/csv' } },
    async (request, reply) => {
      const { id } = visitorOf(request).partner;
      const customer = await customerOf(id, request.query.customer);
      const { items } = await usageOf(id, Number(request.query.days ?? PERIODS[0]), customer?.id);
      const name = `usage-${items[0]?.period ?? ''}-${items.at(-1)?.period ?? ''}.csv`;
      reply.header('content-disposition', `attachment; filename="${name}"`);
      return reply.type(CSV_TYPE).send(fileOf(items));
    },
  );

  app.get(
    '/usage-by-customer.csv',
    { schema: { querystring: MonthQuery }, config: { ...PAGE, produces: 'text/csv' } },
    async (request, reply) => {
      const { month } = request.query;
      const range = daysOfMonth(month);
      const customers = await everyCustomer(stores.usage, visitorOf(request).partner.id, range);
      reply.header('content-disposition', `attachment; filename="customers-${month}.csv"`);
      return reply.type(CSV_TYPE).send(customersCsv(customers));
    },
  );

  async function usageOf(partnerId: string, days: number, customerId?: string): Promise<UsageReport> {
    const now = clock.now();
    const from = dayOf(now - (days - 1) * DAY_MS);
    return await stores.usage.usage(partnerId, { from, to: dayOf(now), granularity: 'day', customerId });
  }

  /** Also one that was deleted, whose usage stays. @throws {ApiError} CUSTOMER_NOT_FOUND */
  async function customerOf(partnerId: string, id: string | undefined): Promise<ShownCustomer | undefined> {
    if (id === undefined) return undefined;
    if (!(await stores.customers.isKnown(partnerId, id))) throw noCustomer();
    const [names, present] = await Promise.all([
      stores.customers.names(partnerId, [id]),
      stores.customers.get(partnerId, id),
    ]);
    return { id, name: names.get(id) ?? id, isDeleted: present === undefined };
  }
}

interface ShownCustomer {
  readonly id: string;
  readonly name: string;
  readonly isDeleted: boolean;
}

interface UsageView {
  readonly days: number;
  /** Undefined for all customers together. */
  readonly customer: ShownCustomer | undefined;
  /** This month and the last, such as `2026-11`, the newest first. */
  readonly months: readonly string[];
}

function lastMonths(now: number): readonly string[] {
  const month = dayOf(now).slice(0, 7);
  return [month, dayOf(Date.parse(`${month}-01`) - DAY_MS).slice(0, 7)];
}

function daysOfMonth(month: string): DayRange {
  const from = `${month}-01`;
  const next = dayOf(Date.parse(from) + 31 * DAY_MS).slice(0, 7);
  return { from, to: dayOf(Date.parse(`${next}-01`) - DAY_MS) };
}

function addressOf(path: string, days: number, customer: ShownCustomer | undefined): string {
  return `${path}?days=${days}${customer === undefined ? '' : `&customer=${encodeURIComponent(customer.id)}`}`;
}

/** The same file as from `GET /usage`. */
function fileOf(items: readonly UsageItem[]): string {
  const rows = items.map((item) => ({ period: item.period, ...shownFigures(item) }));
  return csvOf(
    USAGE_COLUMNS,
    rows.map((row) => USAGE_COLUMNS.map((name) => row[name])),
  );
}

function contentOf({ totals, items }: UsageReport, { days, customer, months }: UsageView): JSX.Element {
  const period = `${shownDay(items[0]?.period ?? '')} to ${shownDay(items.at(-1)?.period ?? '')}`;
  const failed = totals.backupsFailed === 0 ? null : `${shownCount(totals.backupsFailed)} failed`;
  return (
    <>
      {customer === undefined ? null : backLink(customer)}
      <PageHead
        title={customer === undefined ? 'Usage' : <>Usage of {own(customer.name)}</>}
        actions={
          <div class="switch" role="group" aria-label="Period">
            {PERIODS.map((one) => (
              <a href={addressOf(PATH, one, customer)} aria-current={one === days ? 'page' : undefined}>
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
        {customer === undefined ? tile('Active customers', shownCount(totals.activeCustomers)) : null}
        {customer === undefined ? tile('API requests', shownCount(totals.apiRequests)) : null}
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
          <a class="button plain" href={addressOf(`${PATH}.csv`, days, customer)}>
            Download as CSV
          </a>
        </p>
        {dayTable(items)}
      </Card>
      {customer === undefined ? billCard(months) : null}
    </>
  );
}

function backLink({ id, name, isDeleted }: ShownCustomer): JSX.Element {
  const to = isDeleted ? 'customers' : `customers/${encodeURIComponent(id)}`;
  return (
    <a class="back" href={`${CONSOLE_PREFIX}/${to}`}>
      ← {isDeleted ? 'Customers' : own(name)}
    </a>
  );
}

function billCard(months: readonly string[]): JSX.Element {
  return (
    <Card title="By customer">
      <p>
        One line for each customer, also for those you deleted in that month. Late reports still change the
        last days of a month.
      </p>
      <p>
        {months.map((month) => (
          <>
            <a class="button plain" href={`${PATH}-by-customer.csv?month=${month}`}>
              {month} as CSV
            </a>{' '}
          </>
        ))}
      </p>
    </Card>
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
