import type { JSX } from 'preact';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { ChoiceCards } from '../../components/choice-cards.tsx';
import { Path, visible } from '../../components/own-text.tsx';
import { Notice } from '../../components/tag.tsx';
import { formatBytes, formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { storedByText } from '../../parts/stored-by.tsx';
import { lackingText } from './snapshot-list.tsx';
import { PathList } from './path-list.tsx';
import type { RestoreDraft, What } from './restore-draft.ts';
import type { Chosen } from './selection.ts';

/** How many chosen entries are named. */
const NAMED = 100;

export function WhatStep({
  draft,
  snapshot,
  chosen,
  onDraft,
}: {
  readonly draft: RestoreDraft;
  readonly snapshot: Snapshot;
  readonly chosen: readonly Chosen[];
  readonly onDraft: (part: Partial<RestoreDraft>) => void;
}): JSX.Element {
  const { files_count: files, size_bytes: size } = snapshot;
  const key = storedByText(snapshot.stored_by);
  const { what, directory } = draft;
  const bytes = chosen.reduce((sum, one) => sum + one.size_bytes, 0);
  const isRoot = directory.path === '/';
  const choices: readonly (readonly [What, string, JSX.Element | string])[] = [
    ...(chosen.length === 0
      ? []
      : ([
          ['chosen', t.restore.whatChosen(chosen.length, formatCount(chosen.length)), formatBytes(bytes)],
        ] as const)),
    ...(isRoot
      ? []
      : ([['directory', t.restore.whatFolder, <Path key="path">{directory.path}</Path>]] as const)),
    ['all', t.restore.whatAll, `${t.common.files(files, formatCount(files))} · ${formatBytes(size)}`],
  ];
  const selected = choices.some(([value]) => value === what) ? what : 'all';
  return (
    <>
      <ChoiceCards
        isLegendUnseen
        name="restore-what"
        legend={t.restore.stepTitles.what}
        value={selected}
        choices={choices.map(([value, label, hint]) => ({ value, label, note: hint }))}
        onValue={(value) => onDraft({ what: value })}
      />
      {key === '' ? null : (
        <Notice look="warning">
          <p>{t.restore.ofKey(key, visible(snapshot.host))}</p>
        </Notice>
      )}
      {snapshot.partial && selected !== 'chosen' ? (
        <p class="quiet">{t.restore.thisLacks(lackingText(snapshot))}</p>
      ) : null}
      {what === 'chosen' ? <PathList paths={chosen} most={NAMED} look="chosen-paths" /> : null}
    </>
  );
}
