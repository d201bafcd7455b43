/** Shows one file over time: its versions, and two of them side by side. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { FileVersion } from '../../../api/schemas/snapshot.ts';
import { ask, contentAddress, withQuery } from '../../agent/ask.ts';
import { useOverview } from '../../agent/overview.ts';
import { type FetchedPage, usePages } from '../../agent/use-pages.ts';
import { Button } from '../../components/button.tsx';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Filled, Own, Path, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { type Look, Tag } from '../../components/tag.tsx';
import { formatBytes, formatCount, formatTime, formatTimesApart } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { goTo } from '../../parts/route.ts';
import { StoredByTag } from '../../parts/stored-by.tsx';
import { type DistinctVersion, distinctVersions, type Pair, pairOf, VersionPair } from './version-pair.tsx';
import { keyOf, nameOf, parentOf, pathQuery, type PathRef } from './path-ref.ts';
import { hrefOfPlace, hrefOfVersions, type VersionsPlace } from './place.ts';
import { repositoriesOf, versionsCommands } from './reading-commands.ts';
import { RestoreDialog } from './restore-dialog.tsx';

const PAGE = 100;

export function VersionsPage({ place }: { readonly place: VersionsPlace }): JSX.Element {
  const { ref } = place;
  if (ref === undefined) return <PageHead title={t.app.noSuchPage} />;
  return <Versions place={place} file={ref} />;
}

function Versions({ place, file }: { readonly place: VersionsPlace; readonly file: PathRef }): JSX.Element {
  const { source, storedBy } = place;
  const { destinations } = useOverview();
  const pages = usePages(
    `${source ?? ''} ${storedBy ?? ''} ${keyOf(file)}`,
    async ({ cursor, limit, signal }) => {
      const query = { ...pathQuery(file), source, stored_by: storedBy, limit, cursor };
      return await ask<FetchedPage<FileVersion>>('GET', withQuery('/files/versions', query), { signal });
    },
    PAGE,
    PAGE,
  );
  const [restored, setRestored] = useState<DistinctVersion | undefined>(undefined);
  const versions = distinctVersions(pages.items);
  const pair = pairOf(versions, place.older, place.newer);
  const newest = versions.find(({ change }) => change !== 'removed')?.item.snapshot_id;
  const folder = {
    source,
    destination: undefined,
    snapshot: newest,
    directory: parentOf(file),
    sort: 'name',
    q: '',
    scope: 'all',
    file: undefined,
  } as const;
  return (
    <>
      <a class="back" href={hrefOfPlace(folder)}>
        ← {t.restore.toFolder}
      </a>
      <PageHead title={<Filled text={t.restore.versionsOf} parts={[<Own key="name">{nameOf(file)}</Own>]} />}>
        <Path>{file.path}</Path>
      </PageHead>
      <Problem error={pages.problem} />
      <Card>
        {versions.length === 0 ? (
          <Empty>{pages.isBusy ? t.common.loading : ''}</Empty>
        ) : (
          <VersionTable versions={versions} place={place} pair={pair} onRestore={setRestored} />
        )}
        {pages.hasMore ? (
          <Button
            type="button"
            look="plain"
            disabled={pages.isBusy}
            onClick={() => pages.want(pages.items.length)}
          >
            {t.restore.olderVersions}
          </Button>
        ) : null}
      </Card>
      {pair === undefined ? null : <VersionPair file={file} pair={pair} />}
      {versions.length === 1 ? <p class="quiet">{t.restore.oneVersion}</p> : null}
      <Command lines={versionsCommands(file, repositoriesOf(destinations))} />
      {restored === undefined ? null : (
        <RestoreDialog
          snapshot={restored.item.snapshot_id}
          chosen={[
            {
              ...file,
              isDirectory: restored.item.type === 'directory',
              size_bytes: restored.item.size_bytes,
            },
          ]}
          directory={parentOf(file)}
          begin="where"
          overwrite={restored.item.type === 'directory' ? 'never' : 'if_changed'}
          onClose={() => setRestored(undefined)}
        />
      )}
    </>
  );
}

const LOOKS: Readonly<Record<DistinctVersion['change'], Look>> = {
  added: 'good',
  modified: 'plain',
  removed: 'warning',
};

function VersionTable({
  versions,
  place,
  pair,
  onRestore,
}: {
  readonly versions: readonly DistinctVersion[];
  readonly place: VersionsPlace;
  readonly pair: Pair | undefined;
  readonly onRestore: (version: DistinctVersion) => void;
}): JSX.Element {
  const compare = (side: 'older' | 'newer', id: string): void => {
    const ids = { older: pair?.older.item.snapshot_id, newer: pair?.newer.item.snapshot_id };
    goTo(hrefOfVersions({ ...place, ...ids, [side]: id }), 'replace');
  };
  const times = formatTimesApart(versions.map(({ firstAt }) => firstAt));
  const changes = formatTimesApart(versions.map(({ item }) => item.modified_at));
  return (
    <Table
      isStacked
      label={t.restore.versions}
      columns={[
        { title: t.restore.left },
        { title: t.restore.right },
        { title: t.restore.backedUp },
        { title: t.restore.changed },
        { title: t.restore.size, isNumber: true },
        { title: t.restore.change },
        { title: t.restore.more, isUnseen: true },
      ]}
    >
      {versions.map((version) => {
        const { item, change, firstAt, snapshots } = version;
        const id = item.snapshot_id;
        const shown = times.get(firstAt) ?? formatTime(firstAt);
        const isThere = change !== 'removed';
        return (
          <tr key={`${change} ${id}`}>
            {(['older', 'newer'] as const).map((side) => (
              <td key={side} data-label={side === 'older' ? t.restore.left : t.restore.right}>
                {isThere && pair !== undefined ? (
                  <input
                    type="radio"
                    name={`version-${side}`}
                    aria-label={side === 'older' ? t.restore.leftIs(shown) : t.restore.rightIs(shown)}
                    checked={pair[side] === version}
                    onChange={() => compare(side, id)}
                  />
                ) : null}
              </td>
            ))}
            <td class="whole begins">
              <time dateTime={firstAt}>{shown}</time>
              <StoredByTag by={item.stored_by} />
              {isThere ? <small>{t.restore.inBackups(snapshots, formatCount(snapshots))}</small> : null}
            </td>
            <td data-label={isThere ? t.restore.changed : undefined}>
              {isThere ? <time dateTime={item.modified_at}>{changes.get(item.modified_at)}</time> : ''}
            </td>
            <td class="number">{isThere ? formatBytes(item.size_bytes) : ''}</td>
            <td>
              <Tag look={LOOKS[change]}>{t.restore.changes[change]}</Tag>
            </td>
            <td class="version-actions whole">
              {isThere ? (
                <>
                  {item.type === 'file' ? (
                    <a
                      href={contentAddress({ snapshot: id, path: pathQuery(item) })}
                      download={visible(item.name)}
                      aria-label={t.restore.downloadOf(shown)}
                    >
                      {t.restore.download}
                    </a>
                  ) : null}
                  <Button
                    type="button"
                    look="plain"
                    aria-label={t.restore.restoreOf(shown)}
                    onClick={() => onRestore(version)}
                  >
                    {t.restore.restoreThem}
                  </Button>
                </>
              ) : null}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
