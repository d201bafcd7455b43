/** Shows how large a source is by the rules as typed, and what they leave out and why. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Estimate } from '../../../api/schemas/page/protect.ts';
import { ask } from '../../agent/ask.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Own, Path } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { formatBytes, formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import type { SourceValues } from './settings-values.ts';

/** The longest time that the agent may count. */
const WITHIN_SECONDS = 20;

export function SourceEstimate({ source }: { readonly source: SourceValues }): JSX.Element {
  const { path, exclude } = source;
  const rules = JSON.stringify(exclude);
  const [found, setFound] = useState<{ readonly rules: string; readonly estimate: Estimate } | undefined>(
    undefined,
  );
  const count = useAction(async () => {
    const body = { path, exclude, within: WITHIN_SECONDS };
    setFound({ rules, estimate: await ask<Estimate>('POST', '/estimate', { body }) });
  });
  return (
    <div class="estimate">
      <Actions>
        <Button type="button" disabled={count.isBusy} onClick={() => void count.run()}>
          {count.isBusy ? t.sources.counting : found === undefined ? t.sources.count : t.sources.countAgain}
        </Button>
      </Actions>
      <Problem error={count.problem} />
      <div role="status">
        {found === undefined ? null : (
          <>
            {found.rules === rules ? null : <p class="quiet">{t.sources.outdated}</p>}
            <Figures estimate={found.estimate} />
          </>
        )}
      </div>
      {found === undefined ? null : (
        <>
          <Excluded estimate={found.estimate} />
          <Largest estimate={found.estimate} />
        </>
      )}
    </div>
  );
}

function Figures({ estimate }: { readonly estimate: Estimate }): JSX.Element {
  const { files, bytes, complete, unreadable, excluded_files: excluded } = estimate;
  return (
    <p>
      <strong>
        {t.sources.estimated(t.common.files(files, formatCount(files)), formatBytes(bytes), complete)}
      </strong>{' '}
      {t.sources.excludedCount(excluded, formatCount(excluded))}
      {unreadable === 0 ? null : ` ${t.sources.unreadable(unreadable, formatCount(unreadable))}`}
    </p>
  );
}

function Excluded({ estimate: { excluded } }: { readonly estimate: Estimate }): JSX.Element | null {
  if (excluded.length === 0) return null;
  return (
    <details>
      <summary>{t.sources.excludedTitle}</summary>
      <div class="long-list">
        <Table
          label={t.sources.excludedTitle}
          columns={[{ title: t.sources.path }, { title: t.sources.why }]}
        >
          {excluded.map(({ path, reason, rule }) => (
            <tr key={path}>
              <td class="name">
                <Path>{path}</Path>
              </td>
              <td>
                {t.sources.reasons[reason]}
                {rule === null ? null : (
                  <>
                    {' '}
                    <code>
                      <Own>{rule}</Own>
                    </code>
                  </>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </div>
    </details>
  );
}

function Largest({ estimate: { largest, bytes } }: { readonly estimate: Estimate }): JSX.Element | null {
  if (largest.length === 0) return null;
  return (
    <details>
      <summary>{t.sources.largestTitle}</summary>
      <ul class="largest">
        {largest.map((directory) => (
          <li key={directory.path}>
            <Path>{directory.path}</Path>
            <span class="number">{formatBytes(directory.bytes)}</span>
            <span class="share-bar" aria-hidden="true">
              <span style={{ width: `${Math.round((100 * directory.bytes) / Math.max(1, bytes))}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
