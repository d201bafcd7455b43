/** Shows one file: what it is, its content, and what can be done with it. */
import type { JSX } from 'preact';
import type { File, Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask, contentAddress, withQuery } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import type { FetchedPage } from '../../agent/use-pages.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Command } from '../../components/command.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Own, Path, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { formatBytes, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
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
  onClose,
  onRestore,
}: {
  readonly file: PathRef;
  readonly place: Place;
  readonly snapshot: Snapshot;
  readonly onClose: () => void;
  readonly onRestore: (entry: Chosen) => void;
}): JSX.Element {
  const name = nameOf(file);
  const destination = useDestination(snapshot);
  const { data, problem } = useAsked(
    async (signal) => {
      const query = { snapshot: snapshot.id, ...pathQuery(file), limit: 1 };
      const { items } = await ask<FetchedPage<File>>('GET', withQuery('/files', query), { signal });
      return items.find((item) => keyOf(item) === keyOf(file));
    },
    [snapshot.id, keyOf(file)],
  );
  const download = contentAddress({ snapshot: snapshot.id, path: pathQuery(file) });
  return (
    <Dialog title={<Own>{name}</Own>} onClose={onClose} isWide>
      <Problem error={problem} />
      {data === undefined ? (
        <p class="quiet">{problem === undefined ? t.common.loading : ''}</p>
      ) : (
        <>
          <FileFacts item={data} />
          {data.type === 'file' ? (
            <Preview facts={{ ...file, snapshot: snapshot.id, size: data.size_bytes }} />
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
            {data.type === 'file' ? (
              <a class="button" href={download} download={downloadName(name)}>
                {t.restore.download}
              </a>
            ) : null}
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
          </Actions>
          {data.type === 'file' ? (
            <Command
              lines={[contentCommand({ snapshot: snapshot.id, destination }, file, downloadName(name))]}
            />
          ) : null}
        </>
      )}
    </Dialog>
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
