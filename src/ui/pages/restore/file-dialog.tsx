/** Shows one file: what it is, its content, and what can be done with it. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { File, Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask, contentAddress, withQuery } from '../../agent/ask.ts';
import { type Asked, useAsked } from '../../agent/use-asked.ts';
import type { Pieces } from '../../agent/use-pieces.ts';
import type { FetchedPage } from '../../agent/use-pages.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Command } from '../../components/command.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Own, Path, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { formatBytes, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { goTo } from '../../parts/route.ts';
import { keyOf, nameOf, parentOf, pathQuery, type PathRef } from './path-ref.ts';
import { hrefOfPlace, hrefOfVersions, keyOfVersions, type Place } from './place.ts';
import { Preview } from './preview.tsx';
import { contentCommand } from './reading-commands.ts';
import { useDestination } from './restore-dialog.tsx';
import type { Chosen } from './selection.ts';

const MODE_BITS = 0o7777;

export function FileDialog({
  file,
  place,
  snapshot,
  entries,
  onClose,
  onRestore,
}: {
  readonly file: PathRef;
  readonly place: Place;
  readonly snapshot: Snapshot;
  /** The folder in which it was opened. Without it, there is no next file. */
  readonly entries?: Pieces<File>;
  readonly onClose: () => void;
  readonly onRestore: (entry: Chosen) => void;
}): JSX.Element {
  const name = nameOf(file);
  const destination = useDestination(snapshot);
  const [isWhole, setWhole] = useState(false);
  const { listed, earlier, later, missing } = neighbors(entries, file, snapshot.id);
  useEffect(() => {
    if (missing !== undefined) entries?.want(missing, missing + 1);
  }, [missing]);
  const { data, problem } = useFile(listed, file, snapshot.id);
  const show = (ref: PathRef): void =>
    goTo(
      hrefOfPlace({ ...place, file: { path: ref.path, path_b64: ref.path_b64 }, snapshot: snapshot.id }),
      'replace',
    );
  return (
    <Dialog
      title={<Own>{name}</Own>}
      onClose={onClose}
      isWide
      isWhole={isWhole}
      buttons={
        <>
          {earlier === undefined && later === undefined ? null : (
            <>
              <StepButton to={earlier} label={t.restore.previousFile} sign="‹" onStep={show} />
              <StepButton to={later} label={t.restore.nextFile} sign="›" onStep={show} />
            </>
          )}
          {isWhole || data?.type === 'file' ? (
            <Button type="button" look="plain" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
              {t.restore.fillWindow}
            </Button>
          ) : null}
        </>
      }
      onKeyDown={(event) => {
        const ref = event.key === 'ArrowLeft' ? earlier : event.key === 'ArrowRight' ? later : undefined;
        if (ref === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
        event.preventDefault();
        show(ref);
      }}
    >
      <Problem error={problem} />
      {data === undefined ? (
        <p class="quiet">{problem === undefined ? t.common.loading : ''}</p>
      ) : (
        <>
          {isWhole ? null : <FileFacts item={data} />}
          {data.type === 'file' ? (
            <Preview key={keyOf(file)} facts={{ ...file, snapshot: snapshot.id, size: data.size_bytes }} />
          ) : (
            <p class="quiet">{t.restore.noContents}</p>
          )}
          <Actions>
            <Button
              type="button"
              look="main-action"
              onClick={() => onRestore({ ...file, isDirectory: false, size_bytes: data.size_bytes })}
            >
              {t.restore.restoreThis}
            </Button>
            <FileLinks item={data} {...{ file, place, snapshot, isWhole }} />
          </Actions>
          {data.type === 'file' && !isWhole ? (
            <Command
              lines={[contentCommand({ snapshot: snapshot.id, destination }, file, downloadName(name))]}
            />
          ) : null}
        </>
      )}
    </Dialog>
  );
}

/** @param listed the file as its folder has it, so that nothing has to be asked */
function useFile(
  listed: File | undefined,
  file: PathRef,
  snapshot: string,
): Pick<Asked<File | undefined>, 'data' | 'problem'> {
  const { data, problem } = useAsked(
    async (signal) => {
      if (listed !== undefined) return undefined;
      const query = { snapshot, ...pathQuery(file), limit: 1 };
      const { items } = await ask<FetchedPage<File>>('GET', withQuery('/files', query), { signal });
      return items.find((item) => keyOf(item) === keyOf(file));
    },
    [snapshot, keyOf(file), listed === undefined],
  );
  // The answer about the file before stays until that about this one has arrived.
  const isIt = data !== undefined && keyOf(data) === keyOf(file);
  return { data: listed ?? (isIt ? data : undefined), problem };
}

interface Neighbors {
  readonly listed?: File | undefined;
  readonly earlier?: File | undefined;
  readonly later?: File | undefined;
  /** The index of one of them that is not fetched yet. */
  readonly missing?: number | undefined;
}

/** A file of a folder, and those before and behind it in the order of the list, as far as that has been fetched. */
export function neighbors(
  entries: Pick<Pieces<File>, 'at' | 'find' | 'count'> | undefined,
  file: PathRef,
  snapshot: string,
): Neighbors {
  // The folder of the snapshot before is listed until that of this one has arrived.
  const at = entries?.find((item) => keyOf(item) === keyOf(file) && item.snapshot_id === snapshot) ?? -1;
  if (entries === undefined || at === -1) return {};
  let missing: number | undefined;
  const next = (step: 1 | -1): File | undefined => {
    let index = at + step;
    while (entries.at(index)?.type === 'directory') index += step;
    const found = entries.at(index);
    if (found === undefined && index >= 0 && index < entries.count) missing = index;
    return found;
  };
  const found = { listed: entries.at(at), earlier: next(-1), later: next(1) };
  return { ...found, missing };
}

function StepButton({
  to,
  label,
  sign,
  onStep,
}: {
  readonly to: PathRef | undefined;
  readonly label: string;
  readonly sign: string;
  readonly onStep: (to: PathRef) => void;
}): JSX.Element {
  return (
    <Button
      type="button"
      look="plain"
      aria-label={label}
      aria-disabled={to === undefined}
      onClick={() => (to === undefined ? undefined : onStep(to))}
    >
      {sign}
    </Button>
  );
}

/** What else can be done with a file. Where the file fills the window, there is room for the download alone. */
function FileLinks({
  item,
  file,
  place,
  snapshot,
  isWhole,
}: {
  readonly item: File;
  readonly file: PathRef;
  readonly place: Place;
  readonly snapshot: Snapshot;
  readonly isWhole: boolean;
}): JSX.Element {
  const download = contentAddress({ snapshot: snapshot.id, path: pathQuery(file) });
  return (
    <>
      {item.type === 'file' ? (
        <a class="button" href={download} download={downloadName(nameOf(file))}>
          {t.restore.download}
        </a>
      ) : null}
      {isWhole ? null : (
        <>
          <a
            class="button"
            href={hrefOfVersions({
              ref: file,
              source: place.source,
              storedBy: keyOfVersions(snapshot.stored_by),
              older: undefined,
              newer: undefined,
            })}
          >
            {t.restore.versions}
          </a>
          <a
            class="button"
            href={hrefOfPlace({ ...place, q: '', file: undefined, directory: parentOf(file) })}
          >
            {t.restore.inFolder}
          </a>
        </>
      )}
    </>
  );
}

function FileFacts({ item }: { readonly item: File }): JSX.Element {
  const { path, type, size_bytes: size, modified_at: modified, mode, link_target: target } = item;
  return (
    <Facts
      rows={[
        [t.restore.path, <Path key="path">{path}</Path>],
        ...(type === 'file' ? [[t.restore.size, formatBytes(size)] as const] : []),
        ...(target === null ? [] : [[t.restore.linkTo, <Path key="target">{target}</Path>] as const]),
        [t.restore.changed, formatTime(modified)],
        [t.restore.backedUp, formatTime(item.backed_up_at)],
        [t.restore.mode, <code key="mode">{(mode & MODE_BITS).toString(8).padStart(3, '0')}</code>],
      ]}
    />
  );
}

/** The name of a download. Invisible characters are written out, to keep them off the disk, too. */
function downloadName(name: string): string {
  return visible(name);
}
