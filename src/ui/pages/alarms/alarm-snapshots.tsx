/** Lists snapshots from before an alarm, in which files are still as they were. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Alarm } from '../../../api/schemas/page/jobs.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Own, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { formatBytes, formatCount, formatMoment } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { ComparisonDialog } from '../../parts/comparison-dialog.tsx';
import { hrefOf } from '../../parts/route.ts';
import { snapshotsBefore, snapshotsOfKey } from './snapshots-before.ts';

export function AlarmSnapshots({ alarm }: { readonly alarm: Alarm }): JSX.Element {
  const isOfName = alarm.kind === 'claimed';
  const asked = useAsked(
    async (signal) => await (isOfName ? snapshotsOfKey : snapshotsBefore)(alarm, signal),
    [alarm.id],
  );
  const title = isOfName ? t.alarms.stored : t.alarms.before;
  const [compared, setCompared] = useState<Snapshot | undefined>(undefined);
  const snapshots = asked.data;
  return (
    <>
      <h3>{title}</h3>
      <Problem error={asked.problem} />
      {snapshots === undefined && asked.isBusy ? <p class="quiet">{t.common.loading}</p> : null}
      {snapshots?.length === 0 ? <p>{isOfName ? t.alarms.storedNone : t.alarms.beforeNone}</p> : null}
      {snapshots === undefined || snapshots.length === 0 ? null : (
        <>
          {isOfName ? null : <p class="quiet small-text">{t.alarms.beforeHint}</p>}
          <Table
            label={`${title}: ${visible(alarm.source)}, ${t.alarms.kinds[alarm.kind].title}`}
            columns={[
              { title: t.alarms.time },
              { title: t.alarms.files, isNumber: true },
              { title: t.alarms.size, isNumber: true },
              { title: t.alarms.actions, isUnseen: true },
            ]}
          >
            {snapshots.map((snapshot) => (
              <Row key={snapshot.id} snapshot={snapshot} onCompare={() => setCompared(snapshot)} />
            ))}
          </Table>
        </>
      )}
      {compared === undefined ? null : (
        <ComparisonDialog snapshot={compared} onClose={() => setCompared(undefined)} />
      )}
    </>
  );
}

function Row({
  snapshot,
  onCompare,
}: {
  readonly snapshot: Snapshot;
  readonly onCompare: () => void;
}): JSX.Element {
  const { id, source, created_at: made, files_count: files, size_bytes: size, destination } = snapshot;
  const time = formatMoment(made);
  return (
    <tr>
      <td>
        <time dateTime={made}>{time}</time>
        <small>
          <Own>{destination}</Own>
        </small>
      </td>
      <td class="number">{formatCount(files)}</td>
      <td class="number">{formatBytes(size)}</td>
      <td>
        <div class="row-actions">
          <a href={hrefOf(['restore'], { source, snapshot: id })} aria-label={`${t.alarms.look}: ${time}`}>
            {t.alarms.look}
          </a>
          <Button
            type="button"
            look="bare"
            aria-label={`${t.parts.comparison.title}: ${time}`}
            onClick={onCompare}
          >
            {t.parts.comparison.title}
          </Button>
        </div>
      </td>
    </tr>
  );
}
