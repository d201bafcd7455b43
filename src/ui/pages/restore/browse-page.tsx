import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { archiveAddress } from '../../agent/ask.ts';
import { useOverview } from '../../agent/overview.ts';
import { Button } from '../../components/button.tsx';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { formatBytes, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { goTo } from '../../parts/route.ts';
import { EntryList, type EntryListFacts, useEntries } from './entry-list.tsx';
import { FileDialog } from './file-dialog.tsx';
import { beginningOf, crumbsOf, keyOf, nameOf, pathQuery, type PathRef } from './path-ref.ts';
import { emptyReason, type Timeline, useTimeline } from './use-timeline.ts';
import { hrefOfPlace, isFolder, type Place } from './place.ts';
import { findCommands, listCommand, repositoriesOf } from './reading-commands.ts';
import { RestoreDialog, useDestination } from './restore-dialog.tsx';
import { SearchField } from './search-field.tsx';
import { SearchResults } from './search-results.tsx';
import { type Chosen, NOTHING, type Selection, topmost } from './selection.ts';
import { SnapshotList } from './snapshot-list.tsx';
import { TimeSlider } from './time-slider.tsx';

interface BrowseFacts {
  readonly place: Place;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
}

export function BrowsePage({ place, selection, onSelection }: BrowseFacts): JSX.Element {
  const timeline = useTimeline(place);
  const { pages, snapshot, problem } = timeline;
  const overview = useOverview();
  const isKnown = pages.key !== undefined && problem === undefined && !pages.isBusy && snapshot === undefined;
  const empty = emptyReason(place, { isKnown, count: pages.items.length }, overview);
  const isNone = empty === 'none_yet' || empty === 'none_read';
  return (
    <>
      <PageHead title={t.restore.title}>{t.restore.intro}</PageHead>
      <Problem error={problem} />
      {empty === undefined ? null : (
        <Card>
          <Empty>
            <p>{t.restore.nothing[empty]}</p>
            {isNone ? null : (
              <p>
                <a href={hrefOfSource(undefined, undefined)}>{t.restore.showAll}</a>
              </p>
            )}
          </Empty>
        </Card>
      )}
      {isNone && timeline.sources.length < 2 ? null : (
        <div class="browse">
          <SnapshotList
            place={place}
            timeline={timeline}
            onSource={(source) => goTo(hrefOfSource(source, place.destination))}
            onPlace={(destination) => goTo(hrefOfSource(place.source, destination))}
          />
          <div class="browse-main">
            {/* Stays while another backup is loaded, as when a result is opened: the user may be typing. */}
            <SearchField place={place} />
            {snapshot === undefined ? (
              <p class="quiet">{pages.isBusy ? t.common.loading : ''}</p>
            ) : (
              <Contents {...{ place, timeline, snapshot, selection, onSelection }} />
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** A folder in one snapshot, and the way to the same folder in others. */
function Folder({
  place,
  timeline,
  snapshot,
  directory,
  entries,
  selection,
  onSelection,
}: ContentsFacts & Pick<EntryListFacts, 'directory' | 'entries'>): JSX.Element {
  return (
    <>
      <Breadcrumbs place={{ ...place, snapshot: snapshot.id }} directory={directory} />
      <TimeSlider
        snapshots={timeline.pages.items}
        current={snapshot.id}
        newest={timeline.newest}
        namesPlaces={timeline.places.length > 1}
        onMoved={(id) => goTo(hrefOfPlace({ ...place, directory, snapshot: id }), 'replace')}
      />
      <EntryList {...{ place, snapshot, directory, entries, selection, onSelection }} />
    </>
  );
}

interface Single {
  readonly snapshot: string;
  readonly entry: Chosen;
  /** The step with which its restore begins. */
  readonly begin: 'where' | 'check';
}

interface ContentsFacts extends BrowseFacts {
  readonly timeline: Timeline;
  readonly snapshot: Snapshot;
}

function Contents(facts: ContentsFacts): JSX.Element {
  const { place, snapshot, selection, onSelection, timeline } = facts;
  const directory = place.directory ?? beginningOf(snapshot);
  const entries = useEntries({
    snapshot: snapshot.id,
    directory,
    sort: place.sort,
    isShown: isFolder(place),
  });
  const { destinations } = useOverview();
  const held = { snapshot: snapshot.id, destination: useDestination(snapshot) };
  const [isRestoring, setRestoring] = useState(false);
  /** A single entry that is restored, whatever else is chosen. */
  const [only, setOnly] = useState<Single | undefined>(undefined);
  const closeFile = (): void => goTo(hrefOfPlace({ ...place, file: undefined }), 'replace');
  return (
    <>
      <Card className="browse-card" label={t.restore.files}>
        {isFolder(place) ? (
          <Folder {...facts} {...{ directory, entries }} />
        ) : (
          <SearchResults
            place={place}
            snapshot={snapshot.id}
            onPutBack={(of, entry) => setOnly({ snapshot: of, entry, begin: 'check' })}
          />
        )}
        {!isFolder(place) && selection.entries.size === 0 ? null : (
          <ChosenBar
            selection={selection}
            snapshots={timeline.pages.items}
            current={snapshot}
            directory={isFolder(place) ? directory : undefined}
            onClear={() => onSelection(NOTHING)}
            onRestore={() => setRestoring(true)}
          />
        )}
      </Card>
      {place.q === '' && !isFolder(place) ? null : (
        <Command
          lines={
            isFolder(place)
              ? [listCommand(held, directory)]
              : findCommands(
                  place.q,
                  place.scope === 'snapshot' ? held : undefined,
                  repositoriesOf(destinations),
                )
          }
        />
      )}
      {place.file === undefined ? null : (
        <FileDialog
          file={place.file}
          place={place}
          snapshot={snapshot}
          {...(isFolder(place) ? { entries } : {})}
          onClose={closeFile}
          onRestore={(entry) => {
            closeFile();
            setOnly({ snapshot: snapshot.id, entry, begin: 'where' });
          }}
        />
      )}
      {isRestoring || only !== undefined ? (
        <RestoreDialog
          snapshot={only?.snapshot ?? selection.snapshot ?? snapshot.id}
          chosen={only === undefined ? topmost(selection) : [only.entry]}
          directory={directory}
          begin={only?.begin ?? 'what'}
          overwrite={only?.begin === 'where' && !only.entry.isDirectory ? 'if_changed' : 'never'}
          onClose={() => {
            setRestoring(false);
            setOnly(undefined);
          }}
        />
      ) : null}
    </>
  );
}

function ChosenBar({
  selection,
  snapshots,
  current,
  directory,
  onClear,
  onRestore,
}: {
  readonly selection: Selection;
  readonly snapshots: readonly Snapshot[];
  readonly current: Snapshot;
  /** The folder that is shown; undefined: a list from anywhere. */
  readonly directory: PathRef | undefined;
  readonly onClear: () => void;
  readonly onRestore: () => void;
}): JSX.Element {
  const count = selection.entries.size;
  const bytes = topmost(selection).reduce((sum, { size_bytes: size }) => sum + size, 0);
  const other = snapshots.find(({ id }) => id === selection.snapshot && id !== current.id);
  return (
    <div class="chosen-bar">
      <p role="status">
        {count === 0
          ? t.restore.nothingChosen
          : t.restore.chosen(
              count,
              formatCount(count),
              formatBytes(bytes),
              other === undefined ? null : formatTime(other.created_at),
            )}
      </p>
      {count === 0 ? null : (
        <Button type="button" look="plain" onClick={onClear}>
          {t.restore.clear}
        </Button>
      )}
      {count > 0 || directory === undefined ? null : (
        <a
          class="button"
          href={archiveAddress({ snapshot: current.id, path: pathQuery(directory) })}
          download={`${nameOf(directory)}.tar`}
        >
          {t.restore.downloadFolder}
        </a>
      )}
      <Button type="button" look="main-action" onClick={onRestore}>
        {t.restore.restoreThem}
      </Button>
    </div>
  );
}

/** A link to another source or place, which begins with its newest backup. */
function hrefOfSource(source: string | undefined, destination: string | undefined): string {
  return hrefOfPlace({
    source,
    destination,
    snapshot: undefined,
    directory: undefined,
    sort: 'name',
    q: '',
    scope: 'all',
    file: undefined,
  });
}

/** The path of a directory, each part of it a link. */
function Breadcrumbs({
  place,
  directory,
}: {
  readonly place: Place;
  readonly directory: PathRef;
}): JSX.Element {
  const crumbs = crumbsOf(directory);
  return (
    <nav class="crumbs" aria-label={t.restore.folders}>
      <ol>
        {crumbs.map((crumb, index) => {
          const { path, path_b64: bytes } = crumb;
          return (
            <li key={keyOf(crumb)}>
              <a
                href={hrefOfPlace({ ...place, q: '', scope: 'all', directory: { path, path_b64: bytes } })}
                aria-current={index === crumbs.length - 1 ? 'page' : undefined}
                aria-label={index === 0 ? t.restore.root : undefined}
              >
                <Own>{crumb.name}</Own>
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
