/** Shows what a search finds: in one snapshot, or each file that any snapshot has or had. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SearchHit } from '../../../api/schemas/page/entries.ts';
import type { File } from '../../../api/schemas/snapshot.ts';
import { ask, withQuery } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { type FetchedPage, usePages } from '../../agent/use-pages.ts';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/card.tsx';
import { Filled, Own, Path } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { formatBytes, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { goTo } from '../../parts/route.ts';
import { EntryIcon, Waiting } from './entry-list.tsx';
import { parentOf } from './path-ref.ts';
import { Tag } from '../../components/tag.tsx';
import { StoredByTag } from '../../parts/stored-by.tsx';
import type { Chosen } from './selection.ts';
import { hrefOfPlace, hrefOfVersions, keyOfVersions, type Place } from './place.ts';

/** A file of one snapshot, or of any. */
type Found = File & Partial<Pick<SearchHit, 'deleted'>>;

const ROW_HEIGHT = 60;
/** The first results appear at once; the others are fetched as the user scrolls. */
const FIRST = 50;
const LATER = 500;

export function SearchResults({
  place,
  snapshot,
  onPutBack,
}: {
  readonly place: Place;
  readonly snapshot: string;
  /** Restores an entry that is gone to where it was. */
  readonly onPutBack: (snapshot: string, entry: Chosen) => void;
}): JSX.Element {
  const { q, scope } = place;
  const pages = usePages(
    `${scope === 'snapshot' ? snapshot : ''} ${scope} ${q}`,
    async ({ cursor, limit, signal }) => {
      const address =
        scope === 'snapshot'
          ? withQuery('/files', { q, snapshot, limit, cursor })
          : withQuery('/search', { q, of: scope, limit, cursor });
      return await ask<FetchedPage<Found>>('GET', address, { signal });
    },
    LATER,
    FIRST,
  );
  // What a new backup no longer has is a deleted file from then on.
  useEvents(({ kind, job }) => {
    if (scope !== 'snapshot' && kind === 'job.finished' && job?.type === 'backup') pages.again();
  });
  const { items, hasMore, isPart, problem, key, isBusy } = pages;
  const [current, setCurrent] = useState(0);
  useEffect(() => setCurrent(0), [key]);
  const isDone = key !== undefined && !isBusy;
  const shown = formatCount(items.length);
  const found = q === '' ? t.restore.deletedFound : t.restore.found;
  const onKey = (name: string): boolean => {
    const item = items[current];
    if (name !== 'Enter' || item === undefined) return false;
    goTo(hrefOfHit(place, item));
    return true;
  };
  return (
    <>
      <Problem error={problem} />
      {problem === undefined ? null : (
        <Button type="button" look="plain" onClick={pages.again}>
          {t.common.retry}
        </Button>
      )}
      <p class="quiet" role="status">
        {isDone ? (hasMore ? t.restore.foundMore(shown) : found(items.length, shown)) : ''}
      </p>
      {scope === 'deleted' ? (
        <p class="quiet small-text">
          <Filled
            text={t.restore.deletedJustNow}
            parts={[
              <a key="folder" href={hrefOfPlace({ ...place, q: '', scope: 'all', file: undefined })}>
                {t.restore.toFiles}
              </a>,
            ]}
          />
        </p>
      ) : null}
      {isPart && isDone ? <p>{t.restore.foundInPart}</p> : null}
      {items.length === 0 ? (
        isDone && problem === undefined ? (
          <Empty>
            <p>{q === '' ? t.restore.deletedNothing : t.restore.foundNothing}</p>
          </Empty>
        ) : null
      ) : (
        <VirtualList
          count={hasMore ? items.length + 1 : items.length}
          rowHeight={ROW_HEIGHT}
          label={t.restore.results}
          current={current}
          {...(key === undefined ? {} : { listKey: key })}
          onShown={(_, last) => pages.want(last)}
          grid={{ head: <Head />, isSelected: () => false, onKey, onCurrent: setCurrent }}
          row={(index) => {
            const item = items[index];
            return item === undefined ? <Waiting /> : <Row item={item} place={place} onPutBack={onPutBack} />;
          }}
        />
      )}
    </>
  );
}

function Head(): JSX.Element {
  return (
    <>
      <span role="columnheader" class="cell-name">
        {t.restore.name}
      </span>
      <span role="columnheader" class="cell-size">
        {t.restore.size}
      </span>
      <span role="columnheader" class="cell-modified">
        {t.restore.lastBackup}
      </span>
      <span role="columnheader" class="cell-more">
        <span class="unseen">{t.restore.more}</span>
      </span>
    </>
  );
}

function Row({
  item,
  place,
  onPutBack,
}: {
  readonly item: Found;
  readonly place: Place;
  readonly onPutBack: (snapshot: string, entry: Chosen) => void;
}): JSX.Element {
  const ref = { path: item.path, path_b64: item.path_b64 };
  const folder = parentOf(ref).path;
  const there = { ...place, source: item.source, snapshot: item.snapshot_id };
  const storedBy = keyOfVersions(item.stored_by);
  return (
    <>
      <span role="gridcell" class="cell-name two-lines">
        <EntryIcon type={item.type} />
        <a href={hrefOfHit(place, item)} tabIndex={-1}>
          <Own>{item.name}</Own>
        </a>
        <small>
          {item.deleted === true && place.scope === 'all' ? <Tag>{t.restore.deleted}</Tag> : null}
          {/* The end of a path tells more than its beginning. */}
          <span class="cut-front">
            <Path>{shownFolder(folder, item.source)}</Path>
          </span>
          <StoredByTag by={item.stored_by} />
        </small>
      </span>
      <span role="gridcell" class="cell-size">
        {item.type === 'file' || item.type === 'directory' ? formatBytes(item.size_bytes) : ''}
      </span>
      <span role="gridcell" class="cell-modified">
        {formatTime(item.backed_up_at)}
      </span>
      <span role="gridcell" class="cell-more">
        {item.deleted === true ? (
          <button
            type="button"
            class="as-link put-back"
            tabIndex={-1}
            onClick={() =>
              onPutBack(item.snapshot_id, {
                ...ref,
                isDirectory: item.type === 'directory',
                size_bytes: item.size_bytes,
              })
            }
          >
            {t.restore.putBack}
          </button>
        ) : null}
        <a href={hrefOfPlace({ ...there, q: '', scope: 'all', directory: parentOf(ref) })} tabIndex={-1}>
          {t.restore.inFolder}
        </a>
        {item.deleted === true ? null : (
          <a
            href={hrefOfVersions({ ref, source: item.source, storedBy, older: undefined, newer: undefined })}
            tabIndex={-1}
          >
            {t.restore.versions}
          </a>
        )}
      </span>
    </>
  );
}

/** The folder of a hit. Below its source, the path to the source is left out, so that the end is visible. */
function shownFolder(folder: string, source: string): string {
  const isBelow = folder === source || folder.startsWith(`${source}/`);
  return isBelow ? `${folder.slice(source.lastIndexOf('/') + 1)}/` : folder;
}

/** Where a hit leads: a directory is opened, a file shown above the results. */
function hrefOfHit(place: Place, item: File): string {
  const ref = { path: item.path, path_b64: item.path_b64 };
  const there = { ...place, source: item.source, snapshot: item.snapshot_id };
  return item.type === 'directory'
    ? hrefOfPlace({ ...there, q: '', scope: 'all', directory: ref })
    : hrefOfPlace({ ...there, file: ref });
}
