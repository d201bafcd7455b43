/** Shows what the next prune would keep and remove by the rules as typed. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RetentionPreview as Preview } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { typingPause, useAsked } from '../../agent/use-asked.ts';
import { Select } from '../../components/field.tsx';
import { Own, Path, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatBytes, formatCount, formatList, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { useDraft } from './settings-form.tsx';
import { defaultDestinationOf, destinationNames, type RetentionValues } from './settings-values.ts';

export function RetentionPreview(): JSX.Element {
  const { draft, saved, problemAt } = useDraft();
  const names = destinationNames(saved);
  const [chosen, setChosen] = useState(defaultDestinationOf(saved));
  const { retention } = draft;
  const isWrong = !isReadable(retention) || problemAt(['retention']) !== undefined;
  const asked = useAsked(
    async (signal) => {
      await typingPause(signal);
      if (!isReadable(retention)) return undefined;
      const body = { retention, destination: chosen };
      return ask<Preview>('POST', '/retention-preview', { body, signal });
    },
    [JSON.stringify(retention), chosen],
  );
  const { data } = asked;
  return (
    <>
      <h3>{t.schedule.previewTitle}</h3>
      {names.length < 2 ? null : (
        <Select
          name="preview-destination"
          label={t.schedule.previewOf}
          value={chosen}
          choices={names.map((name) => ({ value: name, label: name }))}
          onValue={setChosen}
        />
      )}
      {isWrong ? (
        <p class="quiet">{t.schedule.previewWrong}</p>
      ) : (
        <>
          <Problem error={asked.problem} />
          {data === undefined ? (
            asked.problem === undefined ? (
              <p class="quiet">{t.common.loading}</p>
            ) : null
          ) : (
            <Outcome preview={data} />
          )}
        </>
      )}
    </>
  );
}

/** Whether the rules are complete. While the user types, a number may be invalid, or a span unfinished. */
function isReadable({ keepWithin, ...counts }: RetentionValues): boolean {
  return (
    Object.values(counts).every((count) => count === null || Number.isInteger(count)) &&
    (keepWithin === null || /^(?:\d+y)?(?:\d+m)?(?:\d+d)?(?:\d+h)?$/.test(keepWithin))
  );
}

function Outcome({ preview }: { readonly preview: Preview }): JSX.Element {
  const { kept, removed, items } = preview;
  const bySource = Map.groupBy(items, ({ source }) => source);
  return (
    <>
      <p role="status">
        {kept + removed === 0
          ? t.schedule.noSnapshots
          : t.schedule.outcome(kept, formatCount(kept), removed, formatCount(removed))}
      </p>
      {[...bySource].map(([source, snapshots]) => (
        <details key={source} class="preview">
          <summary>
            <Path>{source}</Path>{' '}
            <span class="quiet">
              {t.schedule.ofSource(
                formatCount(snapshots.filter(({ keep }) => keep).length),
                formatCount(snapshots.filter(({ keep }) => !keep).length),
              )}
            </span>
          </summary>
          <Snapshots source={source} snapshots={snapshots} />
        </details>
      ))}
    </>
  );
}

function Snapshots({
  source,
  snapshots,
}: {
  readonly source: string;
  readonly snapshots: Preview['items'];
}): JSX.Element {
  return (
    <Table
      label={t.schedule.snapshotsOf(visible(source))}
      columns={[
        { title: t.schedule.snapshot },
        { title: t.schedule.size, isNumber: true },
        { title: t.schedule.fate },
        { title: t.schedule.reason },
      ]}
    >
      {snapshots.map((snapshot) => (
        <tr key={snapshot.snapshot_id}>
          <td>
            <time dateTime={snapshot.created_at}>{formatTime(snapshot.created_at)}</time>
          </td>
          <td class="number">{formatBytes(snapshot.size_bytes)}</td>
          <td>
            <Tag look={snapshot.keep ? 'good' : 'warning'}>
              {snapshot.keep ? t.schedule.kept : t.schedule.goes}
            </Tag>
          </td>
          <td>
            <Own>
              {snapshot.keep
                ? formatList(snapshot.reasons.map((reason) => t.schedule.reasons[reason] ?? reason))
                : t.schedule.noRule}
            </Own>
          </td>
        </tr>
      ))}
    </Table>
  );
}
