/** Settings of what is backed up, and what is left out. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useOverview } from '../../agent/overview.ts';
import { About, Own, Path } from '../../components/own-text.tsx';
import { useShownName } from '../../parts/place.tsx';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { TextField } from '../../components/field.tsx';
import { Facts } from '../../components/table.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatAge, formatBytes, formatCount, formatList } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { DirectoryChooser } from '../../parts/directory-chooser.tsx';
import type { Route } from '../../parts/route.ts';
import { scheduleWords } from './setting-words.tsx';
import type { KeyPath } from './settings-draft.ts';
import { SettingsForm, useDraft } from './settings-form.tsx';
import { destinationsOf, SOURCE_DEFAULTS, type SourceValues } from './settings-values.ts';
import { SourceEditor } from './source-editor.tsx';
import type { SettingsDraft } from './use-settings-draft.ts';

/** `?source=PATH` opens that source. */
export function SourceSettings({ route }: { readonly route: Route }): JSX.Element {
  return (
    <>
      <PageHead title={t.settings.pages.sources}>{t.sources.about}</PageHead>
      <SettingsForm paths={pathsOf}>
        <SourceList opened={route.query.get('source')} />
      </SettingsForm>
    </>
  );
}

function pathsOf({ saved }: SettingsDraft): readonly KeyPath[] {
  return saved.sources.flatMap((_, index): readonly KeyPath[] => [
    ['sources', index, 'schedule'],
    ['sources', index, 'exclude', 'patterns'],
  ]);
}

function SourceList({ opened }: { readonly opened: string | null }): JSX.Element {
  const { draft, saved, set } = useDraft();
  const [open, setOpen] = useState<string | null>(opened);
  const add = (path: string): void => {
    set(['sources'], [...draft.sources, { ...SOURCE_DEFAULTS, path }]);
    setOpen(path);
  };
  const isSaved = (path: string): boolean => saved.sources.some((source) => source.path === path);
  return (
    <>
      {draft.sources.length === 0 ? (
        <Card label={t.settings.pages.sources}>
          <Empty>
            <p>{t.sources.none}</p>
          </Empty>
        </Card>
      ) : (
        draft.sources.map((source, index) => (
          <Source
            key={`${index}:${source.path}`}
            source={source}
            index={index}
            isNew={!isSaved(source.path)}
            isOpen={open === source.path}
            onOpen={(isOpen) => setOpen(isOpen ? source.path : null)}
          />
        ))
      )}
      <AddSource onAdd={add} />
    </>
  );
}

function Source({
  source,
  index,
  isNew,
  isOpen,
  onOpen,
}: {
  readonly source: SourceValues;
  readonly index: number;
  readonly isNew: boolean;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}): JSX.Element {
  const { draft, set, problemAt } = useDraft();
  const problem = problemAt(['sources', index]);
  const names = destinationsOf(source, draft);
  const shownName = useShownName();
  const editorId = `source-${index}`;
  return (
    <Card
      title={
        <>
          <Path>{source.path}</Path> {isNew ? <Tag look="warning">{t.settings.notSaved}</Tag> : null}
          {problem === undefined ? null : <Tag look="bad">{t.settings.hasProblem}</Tag>}
        </>
      }
    >
      <Facts
        rows={[
          [
            t.settings.names['sources[].destinations'],
            <span key="to">{formatList(names.map(shownName))}</span>,
          ],
          [t.settings.names['sources[].schedule'], <Own key="at">{whenInWords(source)}</Own>],
          ...(isNew ? [] : [[t.sources.state, <SourceState key="state" path={source.path} />] as const]),
        ]}
      />
      <Actions>
        <Button type="button" aria-expanded={isOpen} aria-controls={editorId} onClick={() => onOpen(!isOpen)}>
          {isOpen ? t.common.close : t.settings.change}
          <About>{source.path}</About>
        </Button>
        <AskFirst
          label={
            <>
              {t.settings.remove}
              <About>{source.path}</About>
            </>
          }
          look="danger"
          question={t.sources.removeQuestion}
        >
          <Button type="button" look="danger" onClick={() => set(['sources', index], undefined)}>
            {t.sources.removeYes}
            <About>{source.path}</About>
          </Button>
        </AskFirst>
      </Actions>
      <div id={editorId}>{isOpen ? <SourceEditor index={index} source={source} /> : null}</div>
    </Card>
  );
}

function whenInWords({ schedule, watch, poll }: SourceValues): string {
  const words = scheduleWords(schedule);
  if (!watch && !poll) return words;
  return `${poll ? t.sources.polled : t.sources.watched} · ${words}`;
}

/** The state of a source as far as the agent knows it, by the newest backup in any of its destinations. */
function SourceState({ path }: { readonly path: string }): JSX.Element {
  const known = useOverview().sources.filter((source) => source.path === path);
  const [newest] = known
    .filter(({ last_good_backup_at: at }) => at !== null)
    .sort((one, other) => (other.last_good_backup_at ?? '').localeCompare(one.last_good_backup_at ?? ''));
  if (newest === undefined || newest.last_good_backup_at === null) return <>{t.sources.neverBackedUp}</>;
  const { files, size_bytes: bytes, last_good_backup_at: at } = newest;
  return (
    <>
      {t.sources.backedUp(formatAge(at))}
      {files === null || bytes === null
        ? null
        : `, ${t.common.files(files, formatCount(files))}, ${formatBytes(bytes)}`}
    </>
  );
}

function AddSource({ onAdd }: { readonly onAdd: (path: string) => void }): JSX.Element {
  const { draft } = useDraft();
  const [path, setPath] = useState('');
  const [isChoosing, setChoosing] = useState(false);
  const typed = path.trim();
  const isThere = draft.sources.some((source) => source.path === typed);
  const add = (chosen: string): void => {
    onAdd(chosen);
    setPath('');
  };
  return (
    <Card title={t.sources.addTitle}>
      <div class="row with-button">
        <TextField
          name="new-source"
          label={t.settings.names['sources[].path']}
          hint={t.sources.pathHint}
          value={path}
          maxLength={4096}
          problem={isThere ? t.sources.isThere : undefined}
          onValue={setPath}
        />
        <Button type="button" onClick={() => setChoosing(true)}>
          {t.sources.choose}
        </Button>
        <Button
          type="button"
          look="main-action"
          disabled={typed === '' || isThere}
          onClick={() => add(typed)}
        >
          {t.common.next}
        </Button>
      </div>
      {isChoosing ? (
        <DirectoryChooser
          title={t.sources.chooseTitle}
          onChoose={setPath}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </Card>
  );
}
