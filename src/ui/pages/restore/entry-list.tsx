/** Lists the entries of a directory, to browse by mouse or by keyboard alone, and to choose from. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { File, Snapshot } from '../../../api/schemas/snapshot.ts';
import type { Entries, ListedFile } from '../../../api/schemas/page/entries.ts';
import type { AskError } from '../../agent/ask.ts';
import { ask, withQuery } from '../../agent/ask.ts';
import { type Pieces, usePieces } from '../../agent/use-pieces.ts';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/card.tsx';
import { Own, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Tag } from '../../components/tag.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { formatBytes, formatLongDay, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { goTo } from '../../parts/route.ts';
import { keyOf, parentOf, pathQuery, type PathRef } from './path-ref.ts';
import { hrefOfPlace, type Place, type Sort } from './place.ts';
import { isChosen, isFull, type Selection, toggled } from './selection.ts';

const ROW_HEIGHT = 44;

export interface EntryListFacts {
  readonly place: Place;
  readonly snapshot: Snapshot;
  readonly directory: PathRef;
  readonly entries: Pieces<ListedFile>;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
}

export function EntryList(facts: EntryListFacts): JSX.Element {
  const { place, directory, entries, selection, onSelection } = facts;
  const { id: snapshot, created_at: at } = facts.snapshot;
  const { count, problem, key } = entries;
  const [current, setCurrent] = useState(0);
  /** The directory from which the user went up: the keyboard focus continues at its row. */
  const left = useRef<string | undefined>(undefined);
  /** What the user looks at, which stays in sight in another snapshot. */
  const lookedAt = useRef<string | undefined>(undefined);
  // The same in all snapshots, so that the list stays where it is scrolled to.
  const listKey = key?.slice(key.indexOf(' '));
  const goToEntry = (wanted: string | undefined, otherwise: number): void => {
    const found = entries.find((item) => keyOf(item) === wanted);
    setCurrent(found === -1 ? otherwise : found);
  };
  const listedBefore = useRef<string | undefined>(undefined);
  useEffect(() => {
    const isOther = listedBefore.current !== listKey;
    listedBefore.current = listKey;
    if (isOther) lookedAt.current = left.current ?? (place.file && keyOf(place.file));
    left.current = undefined;
    goToEntry(lookedAt.current, isOther ? 0 : Math.max(0, Math.min(current, count - 1)));
  }, [key]);
  useEffect(() => {
    if (place.file === undefined) return;
    lookedAt.current = keyOf(place.file);
    goToEntry(lookedAt.current, current);
  }, [place.file && keyOf(place.file)]);
  if (problem !== undefined && problem.code === 'PATH_NOT_IN_SNAPSHOT')
    return <NotThere {...{ place, directory, problem, at }} />;
  const open = (item: File): void => goTo(hrefOfEntry(place, snapshot, item));
  const choose = (item: File): void => onSelection(toggled(selection, snapshot, chosenOf(item)));
  const onKey = (name: string): boolean => {
    const item = entries.at(current);
    if (name === 'Backspace' || name === 'ArrowLeft') {
      left.current = keyOf(directory);
      goTo(hrefOfPlace({ ...place, snapshot, directory: parentOf(directory) }));
    } else if (item !== undefined && (name === 'Enter' || name === 'ArrowRight')) open(item);
    else if (item !== undefined && name === ' ') choose(item);
    else return false;
    return true;
  };
  const isEmpty = key !== undefined && count === 0 && !entries.isBusy;
  return (
    <>
      <Problem error={problem} />
      {problem === undefined ? null : (
        <Button type="button" look="plain" onClick={entries.again}>
          {t.common.retry}
        </Button>
      )}
      <VirtualList
        count={count}
        rowHeight={ROW_HEIGHT}
        label={t.restore.entriesOf(visible(directory.path))}
        current={current}
        {...(listKey === undefined ? {} : { listKey })}
        onShown={entries.want}
        grid={{
          head: (
            <Head sort={place.sort} onSort={(sort) => goTo(hrefOfPlace({ ...place, sort }), 'replace')} />
          ),
          isSelected: (index) => isChosenItem(selection, snapshot, entries.at(index)),
          onKey,
          onCurrent(index) {
            const item = entries.at(index);
            lookedAt.current = item === undefined ? undefined : keyOf(item);
            setCurrent(index);
          },
        }}
        row={(index) => {
          const item = entries.at(index);
          if (item === undefined) return <Waiting />;
          return (
            <Row
              item={item}
              href={hrefOfEntry(place, snapshot, item)}
              isChosen={isChosen(selection, snapshot, item)}
              isFull={isFull(selection) && selection.snapshot === snapshot}
              onChosen={() => choose(item)}
            />
          );
        }}
      />
      {isEmpty ? <Empty>{t.restore.emptyFolder}</Empty> : null}
    </>
  );
}

function hrefOfEntry(place: Place, snapshot: string, item: File): string {
  const ref = { path: item.path, path_b64: item.path_b64 };
  const isDirectory = item.type === 'directory';
  return hrefOfPlace({ ...place, snapshot, ...(isDirectory ? { directory: ref } : { file: ref }) });
}

function chosenOf({ path, path_b64: bytes, type, size_bytes: size }: File) {
  return { path, path_b64: bytes, isDirectory: type === 'directory', size_bytes: size };
}

function isChosenItem(selection: Selection, snapshot: string, item: File | undefined): boolean {
  return item !== undefined && isChosen(selection, snapshot, item);
}

function Head({ sort, onSort }: { readonly sort: Sort; readonly onSort: (sort: Sort) => void }): JSX.Element {
  const columns = [
    ['name', t.restore.name, 'ascending'],
    ['size', t.restore.size, 'descending'],
    ['modified', t.restore.changed, 'descending'],
  ] as const;
  return (
    <>
      <span role="columnheader" class="cell-check">
        <span class="unseen">{t.restore.choose}</span>
      </span>
      {columns.map(([column, label, order]) => (
        <span
          key={column}
          role="columnheader"
          class={`cell-${column}`}
          aria-sort={column === sort ? order : 'none'}
        >
          <button class="bare sort" type="button" onClick={() => onSort(column)}>
            {label}
            <span aria-hidden="true">{column === sort ? (order === 'ascending' ? ' ↑' : ' ↓') : ''}</span>
          </button>
        </span>
      ))}
    </>
  );
}

function Row({
  item,
  href,
  isChosen: isChecked,
  isFull: isAtMost,
  onChosen,
}: {
  readonly item: ListedFile;
  readonly href: string;
  readonly isChosen: boolean;
  readonly isFull: boolean;
  readonly onChosen: () => void;
}): JSX.Element {
  const { name, type, size_bytes: size, modified_at: modified, link_target: target, since } = item;
  return (
    <>
      <span role="gridcell" class="cell-check">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isChecked}
          disabled={isAtMost && !isChecked}
          aria-label={t.restore.chooseName(visible(name))}
          onChange={onChosen}
        />
      </span>
      <span role="gridcell" class="cell-name">
        <EntryIcon type={type} />
        <a href={href} tabIndex={-1}>
          <Own>{name}</Own>
        </a>
        {target === null ? null : (
          <span class="quiet">
            {' '}
            → <Own>{target}</Own>
          </span>
        )}
        {since === null ? null : (
          <>
            {' '}
            <Tag>{t.restore.since[since]}</Tag>
          </>
        )}
      </span>
      <span role="gridcell" class="cell-size">
        {type === 'symlink' || type === 'other' ? '' : formatBytes(size)}
      </span>
      <span role="gridcell" class="cell-modified">
        {formatTime(modified)}
      </span>
    </>
  );
}

/** A row whose entry has not arrived yet. */
export function Waiting(): JSX.Element {
  return (
    <span role="gridcell" class="cell-name quiet">
      …
    </span>
  );
}

function NotThere({
  place,
  directory,
  problem,
  at,
}: {
  readonly place: Place;
  readonly directory: PathRef;
  readonly problem: AskError;
  readonly at: string;
}): JSX.Element {
  const existed = EXISTED.find((one) => one === problem.details['existed']);
  return (
    <Empty>
      <p>{existed === undefined ? t.restore.notInSnapshot : t.restore.notThen[existed](formatLongDay(at))}</p>
      <p>
        <a href={hrefOfPlace({ ...place, directory: parentOf(directory) })}>{t.restore.toParent}</a>
      </p>
    </Empty>
  );
}

/** When other snapshots have a folder that this one has not. */
const EXISTED = ['before', 'after', 'before_and_after'] as const;

/** The entries of a directory of a snapshot; `isShown` false: none are fetched. */
interface DirectoryAsked {
  readonly snapshot: string;
  readonly directory: PathRef;
  readonly sort: Sort;
  readonly isShown: boolean;
}

export function useEntries({ snapshot, directory, sort, isShown }: DirectoryAsked): Pieces<ListedFile> {
  const key = isShown ? `${snapshot} ${sort} ${keyOf(directory)}` : undefined;
  return usePieces(key, async ({ offset, limit, signal }) => {
    const query = { snapshot, sort, ...pathQuery(directory), offset, limit };
    return await ask<Entries>('GET', withQuery('/entries', query), { signal });
  });
}

const SHAPES: Readonly<Record<File['type'], string>> = {
  directory: 'M1.5 3.5h4l1.5 2h7.5v8h-13z',
  file: 'M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3',
  symlink: 'M3 12.5c0-5 3-7 8-7M8 2.5l3.5 3L8 8.5',
  other: 'M8 2.5a5.5 5.5 0 1 0 .01 0M8 5.5v3M8 11v.01',
};

/** The type of an entry as a picture, and as a word for screen readers. */
export function EntryIcon({ type }: { readonly type: File['type'] }): JSX.Element {
  return (
    <>
      <svg class={`kind ${type}`} viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <path d={SHAPES[type]} />
      </svg>
      {type === 'file' ? null : <span class="unseen">{t.restore.kinds[type]}: </span>}
    </>
  );
}
