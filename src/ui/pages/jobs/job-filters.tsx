/** Which jobs are listed: read from the address of the page, and chosen in a form that changes it. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { useOverview } from '../../agent/overview.ts';
import { type Choice, Select } from '../../components/field.tsx';
import { visible } from '../../components/own-text.tsx';
import { useShownName } from '../../parts/place.tsx';
import { t } from '../../language/language.ts';
import { goTo, hrefOf } from '../../parts/route.ts';

const TYPES = ['backup', 'restore', 'check', 'prune', 'drill'] as const satisfies readonly AnyJob['type'][];
const STATUSES = [
  'queued',
  'running',
  'completed',
  'failed',
  'canceled',
] as const satisfies readonly AnyJob['status'][];
/** Time spans, with their hours. */
const SPANS = { day: 24, week: 168, month: 720 } as const;
export type Span = keyof typeof SPANS;

export interface JobFilters {
  readonly type?: (typeof TYPES)[number] | undefined;
  readonly status?: (typeof STATUSES)[number] | undefined;
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
  readonly since?: Span | undefined;
}

/** Reads the filters of the address. Invalid values are ignored. */
export function readFilters(query: URLSearchParams): JobFilters {
  const [type, status, since] = [query.get('type'), query.get('status'), query.get('since')];
  return {
    type: TYPES.find((one) => one === type),
    status: STATUSES.find((one) => one === status),
    source: query.get('source') ?? undefined,
    destination: query.get('destination') ?? undefined,
    since: isSpan(since) ? since : undefined,
  };
}

function isSpan(text: string | null): text is Span {
  return text !== null && Object.hasOwn(SPANS, text);
}

export function hasFilters(filters: JobFilters): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

/** The parameters of the request, with times as the agent expects them. */
export function listQuery(
  { since, ...filters }: JobFilters,
  nowMs: number,
): Record<string, string | undefined> {
  if (since === undefined) return filters;
  return { ...filters, created_after: new Date(nowMs - SPANS[since] * 3_600_000).toISOString() };
}

/** Merges a part of the list that has just arrived with all that was known before; the newest first. */
export function merged(told: readonly AnyJob[], known: readonly AnyJob[]): readonly AnyJob[] {
  const ids = new Set(told.map(({ id }) => id));
  const newestFirst = (a: AnyJob, b: AnyJob): number => b.created_at.localeCompare(a.created_at);
  return [...told, ...known.filter(({ id }) => !ids.has(id))].toSorted(newestFirst);
}

/** Chooses which jobs are listed. The choice goes into the address. */
export function JobFilterForm({ filters }: { readonly filters: JobFilters }): JSX.Element {
  const { sources, destinations } = useOverview();
  const { type, status, source, destination, since } = filters;
  const shownName = useShownName();
  const choose = (name: keyof JobFilters, value: string): void =>
    goTo(hrefOf(['jobs'], { ...filters, [name]: value }));
  const select = (name: keyof JobFilters, value: string | undefined, choices: readonly Choice[]) => (
    <Select
      name={`filter-${name}`}
      label={t.jobs.filters[name]}
      value={value ?? ''}
      choices={[{ value: '', label: t.jobs.any[name] }, ...choices]}
      onValue={(chosen) => choose(name, chosen)}
    />
  );
  return (
    <div class="job-filters" role="search" aria-label={t.jobs.filters.label}>
      {select(
        'type',
        type,
        TYPES.map((one) => ({ value: one, label: t.jobs.types[one] })),
      )}
      {select(
        'status',
        status,
        STATUSES.map((one) => ({ value: one, label: t.jobs.states[one] })),
      )}
      {select(
        'source',
        source,
        named(
          sources.map(({ path }) => path),
          source,
        ),
      )}
      {select(
        'destination',
        destination,
        named(
          destinations.map(({ name }) => name),
          destination,
          shownName,
        ),
      )}
      {select(
        'since',
        since,
        Object.keys(SPANS).map((one) => ({ value: one, label: sinceWords(one) })),
      )}
      {hasFilters(filters) ? (
        <p class="job-filters-off">
          <a href={hrefOf(['jobs'])}>{t.jobs.allJobs}</a>
        </p>
      ) : null}
    </div>
  );
}

function sinceWords(span: string): string {
  return t.jobs.spans[span as keyof typeof SPANS];
}

/** A name from the address stays a choice, even if it is no longer in the settings. */
function named(
  names: readonly string[],
  chosen: string | undefined,
  shown: (name: string) => string = visible,
): readonly Choice[] {
  const all = new Set(chosen === undefined ? names : [...names, chosen]);
  return [...all].map((name) => ({ value: name, label: shown(name) }));
}
