/** Lists snapshots from before an alarm, in which files are still as they were. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Alarm } from '../../../api/schemas/page/jobs.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask, withQuery } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Own, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatBytes, formatCount, formatMoment } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { ComparisonDialog } from '../../parts/comparison-dialog.tsx';
import { hrefOf } from '../../parts/route.ts';
import { beginningOf } from '../restore/path-ref.ts';
import { RestoreDialog } from '../restore/restore-dialog.tsx';

export function AlarmSnapshots({ alarm }: { readonly alarm: Alarm }): JSX.Element {
  const isOfName = alarm.kind === 'claimed';
  const asked = useAsked(
    async (signal) => await (isOfName ? snapshotsOfKey : snapshotsBefore)(alarm, signal),
    [alarm.id],
  );
  const title = isOfName ? t.alarms.stored : t.alarms.before;
  const [compared, setCompared] = useState<Snapshot | undefined>(undefined);
  const [restored, setRestored] = useState<Snapshot | undefined>(undefined);
  const snapshots = asked.data;
  return (
    <>
      <h3>{title}</h3>
      <Problem error={asked.problem} />
      {snapshots === undefined && asked.isBusy ? <p class="quiet">{t.common.loading}</p> : null}
      {snapshots?.length === 0 ? <p>{isOfName ? t.alarms.storedNone : t.alarms.beforeNone}</p> : null}
      {snapshots === undefined || snapshots.length === 0 ? null : (
        <>
          {isOfName ? null : (
            <p class="quiet small-text">
              {snapshots.some(({ id }) => id === alarm.snapshot_before)
                ? t.alarms.beforeMarked
                : t.alarms.beforeHint}
            </p>
          )}
          <Table
            isStacked
            label={`${title}${t.common.colon} ${visible(alarm.source)}, ${t.alarms.kinds[alarm.kind].title}`}
            columns={[
              { title: t.alarms.time },
              { title: t.alarms.files, isNumber: true },
              { title: t.alarms.size, isNumber: true },
              { title: t.alarms.actions, isUnseen: true },
            ]}
          >
            {snapshots.map((snapshot) => (
              <Row
                key={snapshot.id}
                snapshot={snapshot}
                isLastBefore={!isOfName && snapshot.id === alarm.snapshot_before}
                onCompare={() => setCompared(snapshot)}
                onRestore={() => setRestored(snapshot)}
              />
            ))}
          </Table>
        </>
      )}
      {restored === undefined ? null : (
        <RestoreDialog
          snapshot={restored.id}
          chosen={[]}
          directory={beginningOf(restored)}
          begin="where"
          overwrite={alarm.kind === 'rewritten' ? 'if_changed' : 'never'}
          onClose={() => setRestored(undefined)}
        />
      )}
      {compared === undefined ? null : (
        <ComparisonDialog snapshot={compared} onClose={() => setCompared(undefined)} />
      )}
    </>
  );
}

function Row({
  snapshot,
  isLastBefore,
  onCompare,
  onRestore,
}: {
  readonly snapshot: Snapshot;
  readonly isLastBefore: boolean;
  readonly onCompare: () => void;
  readonly onRestore: () => void;
}): JSX.Element {
  const { id, source, created_at: made, files_count: files, size_bytes: size, destination } = snapshot;
  const time = formatMoment(made);
  return (
    <tr>
      <td>
        <time dateTime={made}>{time}</time>
        {isLastBefore ? (
          <small>
            <Tag look="good">{t.alarms.lastBefore}</Tag>
          </small>
        ) : null}
        <small>
          <Own>{destination}</Own>
        </small>
      </td>
      <td class="number" data-label={t.alarms.files}>
        {formatCount(files)}
      </td>
      <td class="number" data-label={t.alarms.size}>
        {formatBytes(size)}
      </td>
      <td class="whole">
        <div class="row-actions">
          {isLastBefore ? (
            <Button
              type="button"
              look="main-action"
              aria-label={`${t.restore.restoreThem}${t.common.colon} ${time}`}
              onClick={onRestore}
            >
              {t.restore.restoreThem}
            </Button>
          ) : null}
          <a
            href={hrefOf(['restore'], { source, snapshot: id })}
            aria-label={`${t.alarms.look}${t.common.colon} ${time}`}
          >
            {t.alarms.look}
          </a>
          <Button
            type="button"
            look="bare"
            aria-label={`${t.parts.comparison.title}${t.common.colon} ${time}`}
            onClick={onCompare}
          >
            {t.parts.comparison.title}
          </Button>
        </div>
      </td>
    </tr>
  );
}

interface SnapshotPage {
  readonly items: readonly Snapshot[];
  readonly next_cursor: string | null;
}

const SHOWN = 6;
const LIMIT = 100;
/** The search goes no further back. An older alarm is shown without snapshots. */
const MOST_PAGES = 20;

/** Snapshots of write-only keys are no way back: such a key may claim any source and time. */
const FULL = 'full';

/** For an alarm about a host name: the snapshots that its key stored under that name, the newest first. */
async function snapshotsOfKey(
  { source, facts }: Pick<Alarm, 'source' | 'facts'>,
  signal: AbortSignal,
): Promise<readonly Snapshot[]> {
  const key = facts['key'];
  if (typeof key !== 'string') return [];
  const page = await ask<SnapshotPage>('GET', withQuery('/snapshots', { stored_by: key, limit: LIMIT }), {
    signal,
  });
  return page.items.filter(({ host }) => host === source).slice(0, SHOWN);
}

/** Finds the newest snapshots of a source from before the event that an alarm reports. */
export async function snapshotsBefore(
  { source, at, snapshot_before: last }: Pick<Alarm, 'source' | 'at' | 'snapshot_before'>,
  signal: AbortSignal,
): Promise<readonly Snapshot[]> {
  const found: Snapshot[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await ask<SnapshotPage>(
      'GET',
      withQuery('/snapshots', { source, stored_by: FULL, limit: LIMIT, cursor }),
      {
        signal,
      },
    );
    found.push(...page.items.filter(({ created_at: made }) => made <= at));
    const from = found.findIndex(({ id }) => id === last);
    const isEnough = last === null ? found.length >= SHOWN : from >= 0 && found.length >= from + SHOWN;
    if (isEnough || page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  // Snapshots made between the loss and the alarm lack the same files.
  const first = Math.max(
    0,
    found.findIndex(({ id }) => id === last),
  );
  return found.slice(first, first + SHOWN);
}
