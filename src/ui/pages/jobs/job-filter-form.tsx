/** Chooses which jobs are listed. The choice goes into the address. */
import type { JSX } from 'preact';
import { useOverview } from '../../agent/overview.ts';
import { type Choice, Select } from '../../components/field.tsx';
import { visible } from '../../components/own-text.tsx';
import { t } from '../../language/language.ts';
import { goTo, hrefOf } from '../../parts/route.ts';
import { hasFilters, type JobFilters, SPANS, STATUSES, TYPES } from './job-filters.ts';

export function JobFilterForm({ filters }: { readonly filters: JobFilters }): JSX.Element {
  const { sources, destinations } = useOverview();
  const { type, status, source, destination, since } = filters;
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
function named(names: readonly string[], chosen: string | undefined): readonly Choice[] {
  const all = new Set(chosen === undefined ? names : [...names, chosen]);
  return [...all].map((name) => ({ value: name, label: visible(name) }));
}
