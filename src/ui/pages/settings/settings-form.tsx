/** The frame around the fields of a settings page: the draft that they belong to, what will change, and saving it. */
import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { AskError } from '../../agent/ask.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Command } from '../../components/command.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Notice } from '../../components/tag.tsx';
import { formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { LeaveGuard } from './leave-guard.tsx';
import { ChangeInWords, nameOf, problemInWords } from './setting-words.tsx';
import { changeCommands, curlLines, setCommand, setCommands } from './settings-commands.ts';
import { isSame, isWithin, type KeyPath, shownPath, valueAt } from './settings-draft.ts';
import { type SettingsDraft, useSettingsDraft } from './use-settings-draft.ts';

const DraftContext = createContext<SettingsDraft | undefined>(undefined);

/** The draft, for fields within a `SettingsForm`. */
export function useDraft(): SettingsDraft {
  const draft = useContext(DraftContext);
  if (draft === undefined) throw new Error('a field of the settings is outside of their form');
  return draft;
}

export interface SettingsFormFacts {
  /** The settings of this page, for the commands below it. */
  readonly paths: (draft: SettingsDraft) => readonly KeyPath[];
  readonly children: ComponentChildren;
}

export function SettingsForm({ paths, children }: SettingsFormFacts): JSX.Element {
  const { draft, problem } = useSettingsDraft();
  if (draft === undefined)
    return problem === undefined ? <p class="quiet">{t.common.loading}</p> : <Problem error={problem} />;
  const isChanged = draft.changes.length > 0;
  return (
    <DraftContext.Provider value={draft}>
      {draft.isOutdated ? <Outdated draft={draft} /> : null}
      {children}
      <Command
        lines={isChanged ? changeCommands(draft.changes) : setCommands(draft.saved, paths(draft))}
        {...(isChanged ? { title: t.settings.changesAsCommands } : {})}
      />
      <Command lines={curlLines(location.origin, draft.revision)} title={t.settings.withCurl} />
      {isChanged ? <LeaveGuard isSaving={draft.isSaving} /> : null}
      <div class="save-live" role="status">
        {draft.isJustSaved && !isChanged ? <p class="note good">{t.settings.saved}</p> : null}
      </div>
      {isChanged || draft.failure !== undefined ? <SaveBar draft={draft} /> : null}
    </DraftContext.Provider>
  );
}

function Outdated({ draft }: { readonly draft: SettingsDraft }): JSX.Element {
  return (
    <Notice look="warning" urgent>
      <p>{t.settings.outdated}</p>
      <Button type="button" look="plain" onClick={draft.catchUp}>
        {t.settings.catchUp}
      </Button>
    </Notice>
  );
}

const MOST_PROBLEMS = 3;

/** The first problems, one for each field. The others are shown beside their fields. */
function onePerField(problems: SettingsDraft['problems']): SettingsDraft['problems'] {
  return problems
    .filter(({ guarded }) => guarded !== true)
    .filter(({ field }, index, others) => others.findIndex((other) => other.field === field) === index)
    .slice(0, MOST_PROBLEMS);
}

/** Stays visible at the bottom of the window while there is something to save. */
function SaveBar({ draft }: { readonly draft: SettingsDraft }): JSX.Element {
  const { changes, problems, failure, isSaving, isOutdated } = draft;
  const guarded = problems.find((problem) => problem.guarded === true);
  const wrong = onePerField(problems);
  return (
    <section class="save-bar card" aria-label={t.settings.willChange}>
      <Failure error={failure} draft={draft} />
      {changes.length === 0 ? null : (
        <>
          <h2>
            {t.settings.willChange} <span class="quiet">({formatCount(changes.length)})</span>
          </h2>
          <ul class="change-list" tabIndex={0} aria-label={t.settings.willChange}>
            {changes.map((change, index) => (
              <li key={index}>
                <ChangeInWords change={change} settings={draft.draft} />
              </li>
            ))}
          </ul>
          {guarded === undefined ? null : <Guarded place={guarded.field} draft={draft} />}
          {wrong.length === 0 ? null : (
            <div class="change-problems" role="status">
              <p>{t.settings.putRight}</p>
              <ul>
                {wrong.map((problem) => (
                  <li key={problem.field}>
                    {nameOf(readPath(problem.field))}
                    {t.common.colon} <Own>{problemInWords(readPath(problem.field), problem)}</Own>
                  </li>
                ))}
              </ul>
            </div>
          )}
          <Actions>
            <Button
              type="button"
              look="main-action"
              disabled={isSaving || isOutdated || problems.length > 0}
              onClick={() => void draft.save()}
            >
              {isSaving ? t.settings.saving : t.common.save}
            </Button>
            <Button type="button" disabled={isSaving} onClick={draft.discard}>
              {t.settings.discard}
            </Button>
          </Actions>
        </>
      )}
    </section>
  );
}

/** Why nothing was saved. */
function Failure({
  error,
  draft,
}: {
  readonly error: AskError | undefined;
  readonly draft: SettingsDraft;
}): JSX.Element | null {
  const place = error?.details['path'];
  if (error?.code !== 'FORBIDDEN' || typeof place !== 'string') return <Problem error={error} />;
  return <Guarded place={place} draft={draft} />;
}

/** Explains how to change on the command line what no page may change. */
function Guarded({ place, draft }: { readonly place: string; readonly draft: SettingsDraft }): JSX.Element {
  const path = readPath(place);
  const value = valueAt(draft.draft, path) ?? null;
  // A stored secret can be refused because of changes around it, by which it would be sent elsewhere.
  const isSecret = isSame(value, valueAt(draft.saved, path));
  const around = draft.changes.filter((change) => isWithin(shownPath(change.path), path.slice(0, 2)));
  return (
    <Notice look="warning" urgent>
      <div>
        <p>{isSecret ? t.settings.guardedSecret : t.settings.guarded}</p>
        <pre>{(isSecret ? changeCommands(around) : [setCommand(path, value)]).join('\n')}</pre>
      </div>
    </Notice>
  );
}

/** The parts of a path such as `sources[0].hooks`. */
function readPath(shown: string): KeyPath {
  return shown
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
