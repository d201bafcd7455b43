/** Reads from the address of the page which jobs are listed. */
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';

export const TYPES = [
  'backup',
  'restore',
  'check',
  'prune',
  'drill',
] as const satisfies readonly AnyJob['type'][];
export const STATUSES = [
  'queued',
  'running',
  'completed',
  'failed',
  'canceled',
] as const satisfies readonly AnyJob['status'][];
/** Time spans, with their hours. */
export const SPANS = { day: 24, week: 168, month: 720 } as const;
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
