/** Shows what differs between a snapshot and the previous one of the same source. */
import type { JSX } from 'preact';
import type { Snapshot, SnapshotChange } from '../../api/schemas/snapshot.ts';
import { ask, withQuery } from '../agent/ask.ts';
import { useAsked } from '../agent/use-asked.ts';
import { Dialog } from '../components/dialog.tsx';
import { Path } from '../components/own-text.tsx';
import { Problem } from '../components/problem.tsx';
import { Table } from '../components/table.tsx';
import { type Look, Tag } from '../components/tag.tsx';
import { formatBytes, formatMoment } from '../language/format.ts';
import { t } from '../language/language.ts';

interface ChangePage {
  readonly items: readonly SnapshotChange[];
  readonly next_cursor: string | null;
}

const LIMIT = 100;

const LOOKS: Readonly<Record<SnapshotChange['change'], Look>> = {
  added: 'good',
  removed: 'bad',
  modified: 'warning',
  type_changed: 'warning',
  metadata: 'plain',
};

export interface ComparisonDialogFacts {
  readonly snapshot: Pick<Snapshot, 'id' | 'created_at'>;
  readonly onClose: () => void;
}

export function ComparisonDialog({ snapshot, onClose }: ComparisonDialogFacts): JSX.Element {
  const path = withQuery(`/snapshots/${snapshot.id}/diff`, { limit: LIMIT });
  const { data, problem } = useAsked((signal) => ask<ChangePage>('GET', path, { signal }), [path]);
  return (
    <Dialog title={t.parts.comparison.titleOf(formatMoment(snapshot.created_at))} onClose={onClose} isWide>
      <Problem error={problem} />
      {data === undefined && problem === undefined ? (
        <p role="status">{t.parts.comparison.comparing}</p>
      ) : null}
      {data?.items.length === 0 ? <p>{t.parts.comparison.none}</p> : null}
      {data === undefined || data.items.length === 0 ? null : (
        <div class="change-list">
          <Table
            label={t.parts.comparison.title}
            columns={[
              { title: t.parts.comparison.title },
              { title: t.common.file },
              { title: t.parts.comparison.size, isNumber: true },
            ]}
          >
            {data.items.map(({ path: changed, change, size_after: after, size_before: before }) => (
              <tr key={`${change} ${changed}`}>
                <td>
                  <Tag look={LOOKS[change]}>{t.parts.comparison.changes[change]}</Tag>
                </td>
                <td class="name">
                  <Path>{changed}</Path>
                </td>
                <td class="number">{sizes(before, after)}</td>
              </tr>
            ))}
          </Table>
          {data.next_cursor === null ? null : <p class="quiet">{t.parts.comparison.more}</p>}
        </div>
      )}
    </Dialog>
  );
}

function sizes(before: number | null, after: number | null): string {
  const known = [before, after].filter((size) => size !== null).map(formatBytes);
  return before === after ? (known[0] ?? '') : known.join(' → ');
}
