/** The form for a destination: the kind of place, the few fields that it needs, and the result of a trial. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Suggestions } from '../../api/schemas/page/protect.ts';
import { Button } from '../components/button.tsx';
import { ChoiceCards } from '../components/choice-cards.tsx';
import { TextField } from '../components/field.tsx';
import { Own, Path, visible } from '../components/own-text.tsx';
import { Problem } from '../components/problem.tsx';
import { type Look, Notice, Tag } from '../components/tag.tsx';
import { formatBytes } from '../language/format.ts';
import { t, type Texts } from '../language/language.ts';
import {
  DESTINATION_FIELDS,
  DESTINATION_KINDS,
  type DestinationDraft,
  type DestinationField,
  type DestinationKind,
  emptyDraft,
  type FieldProblems,
  folderIn,
  isOptional,
  isSecretField,
  withField,
} from './destination-draft.ts';
import { needsPassphrase, type Trial, type Tried } from './destination-trial.ts';
import { DirectoryChooser } from './directory-chooser.tsx';

export interface DestinationFormFacts {
  readonly draft: DestinationDraft;
  readonly onDraft: (draft: DestinationDraft) => void;
  /** Shown beside the fields: `problemsOf(draft)` once the user wants to go on. */
  readonly problems?: FieldProblems;
  /** The kinds to choose from; all by default. With one kind there is no choice. */
  readonly kinds?: readonly DestinationKind[];
  /** `disks` of `GET /suggestions`. */
  readonly disks?: Suggestions['disks'];
  /** Secrets are stored already, so their fields may stay empty. */
  readonly hasSecrets?: boolean;
  /** The trial of `useDestinationTrial(draft)`; a button of the page starts it. */
  readonly trial: Trial;
}

export function DestinationForm(facts: DestinationFormFacts): JSX.Element {
  const { draft, onDraft, problems = {}, kinds = DESTINATION_KINDS, trial, hasSecrets = false } = facts;
  const texts = t.parts.destination;
  return (
    <div class="destination-form">
      {kinds.length > 1 ? (
        <ChoiceCards
          name="destination-kind"
          legend={texts.kind}
          value={draft.kind}
          choices={kinds.map((kind) => ({
            value: kind,
            label: texts.kinds[kind],
            note: texts.kindNotes[kind],
          }))}
          onValue={(kind) => onDraft(emptyDraft(kind))}
        />
      ) : null}
      {draft.kind === 'directory' ? (
        <DirectoryFields {...facts} />
      ) : (
        <div class="destination-fields">
          {DESTINATION_FIELDS[draft.kind].map((field) => (
            <DraftField
              key={`${draft.kind}-${field}`}
              field={field}
              draft={draft}
              problems={problems}
              hasSecrets={hasSecrets}
              onDraft={onDraft}
            />
          ))}
        </div>
      )}
      {DESTINATION_FIELDS[draft.kind].some(isSecretField) ? (
        <p class="quiet small-text">{texts.secretNote}</p>
      ) : null}
      <TrialReport trial={trial} />
      {draft.passphrase !== undefined || (trial.tried !== undefined && needsPassphrase(trial.tried.test)) ? (
        <TextField
          name="destination-passphrase"
          label={texts.passphrase}
          type="password"
          autocomplete="new-password"
          value={draft.passphrase ?? ''}
          maxLength={65_536}
          {...(trial.tried?.test.usable === true ? {} : { hint: texts.passphraseHint })}
          onValue={(passphrase) => onDraft({ ...draft, passphrase })}
        />
      ) : null}
    </div>
  );
}

type FieldText = keyof Texts['parts']['destination']['fields'];
type HintText = keyof Texts['parts']['destination']['hints'];

/** Fields of two kinds that have the same name may mean different things. */
function labelOf(kind: DestinationKind, field: DestinationField): string {
  const name: FieldText = kind === 'rclone' && field === 'path' ? 'rclonePath' : field;
  return t.parts.destination.fields[name];
}

function hintOf(kind: DestinationKind, field: DestinationField): string | undefined {
  if (kind === 'rclone' && field === 'path') return undefined;
  const { hints } = t.parts.destination;
  return Object.hasOwn(hints, field) ? hints[field as HintText] : undefined;
}

function DraftField({
  field,
  draft,
  problems,
  hasSecrets,
  onDraft,
}: {
  readonly field: DestinationField;
  readonly draft: DestinationDraft;
  readonly problems: FieldProblems;
  readonly hasSecrets: boolean;
  readonly onDraft: (draft: DestinationDraft) => void;
}): JSX.Element {
  const { kind } = draft;
  const problem = problems[field];
  const isSecret = isSecretField(field);
  const hint = isSecret && hasSecrets ? t.parts.destination.hints.kept : hintOf(kind, field);
  return (
    <TextField
      name={`destination-${field}`}
      label={labelOf(kind, field)}
      type={isSecret ? 'password' : 'text'}
      // Keeps password managers from taking the secret of some server for the password of this page.
      autocomplete={isSecret ? 'new-password' : 'off'}
      value={draft.fields[field] ?? ''}
      maxLength={isSecret ? 65_536 : 4096}
      {...(field === 'port' ? { placeholder: '22', inputmode: 'numeric' as const } : {})}
      {...(hint === undefined ? {} : { hint })}
      {...(isOptional(kind, field) || (isSecret && hasSecrets) ? { optional: t.common.optional } : {})}
      problem={problem === undefined ? undefined : t.parts.destination.problems[problem]}
      onValue={(value) => onDraft(withField(draft, field, value))}
    />
  );
}

function DirectoryFields({ draft, onDraft, problems, disks = [] }: DestinationFormFacts): JSX.Element {
  const [isChoosing, setChoosing] = useState(false);
  const texts = t.parts.destination;
  const take = (path: string): void => onDraft(withField(draft, 'path', path));
  return (
    <>
      {disks.length === 0 ? null : (
        <div class="disks" role="group" aria-label={texts.disks}>
          <p class="field-title">{texts.disks}</p>
          {disks.map(({ path, free_bytes: free }) => (
            <Button
              type="button"
              key={path}
              aria-pressed={draft.fields.path === folderIn(path)}
              onClick={() => take(folderIn(path))}
            >
              <Path>{path}</Path>
              {free === null ? null : <small> {texts.disk(formatBytes(free))}</small>}
            </Button>
          ))}
        </div>
      )}
      <div class="row with-button">
        <DraftField
          field="path"
          draft={draft}
          problems={problems ?? {}}
          hasSecrets={false}
          onDraft={onDraft}
        />
        <Button type="button" onClick={() => setChoosing(true)}>
          {texts.choose}
        </Button>
      </div>
      {isChoosing ? (
        <DirectoryChooser
          title={texts.chooseTitle}
          onChoose={(path) => take(folderIn(path))}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </>
  );
}

/** Says that a trial is running, and afterwards shows its result. */
function TrialReport({ trial }: { readonly trial: Trial }): JSX.Element {
  return (
    <>
      <div role="status">{trial.isBusy ? <p class="quiet">{t.parts.destination.testing}</p> : null}</div>
      <Problem error={trial.problem} />
      {trial.isBusy || trial.tried === undefined ? null : <TestReport tried={trial.tried} />}
    </>
  );
}

type Finding = Tried['test']['findings'][number];

/** Also used for a destination of the settings that was tried by its name. */
export function TestReport({ tried }: { readonly tried: Pick<Tried, 'test' | 'isNew'> }): JSX.Element {
  const { usable, findings, write_speed: write, read_speed: read } = tried.test;
  const texts = t.parts.destination;
  const concerns = findings.filter(({ status }) => status !== 'ok');
  const look = usable ? (concerns.length === 0 ? 'good' : 'warning') : 'bad';
  const said = { good: texts.usable, warning: texts.usableBut, bad: texts.unusable }[look];
  const speeds =
    !usable || write === null || read === null ? '' : texts.speeds(formatBytes(write), formatBytes(read));
  return (
    <div class="test-report">
      <Notice look={look} urgent={!usable}>
        <div>
          {/* What is wrong follows its heading at once, which may end with "But:". */}
          <p>
            <strong>{said}</strong>
            {concerns.length === 0 && speeds !== '' ? ` ${speeds}` : null}
          </p>
          {concerns.length === 0 ? null : (
            <ul>
              {concerns.map((finding) => (
                <li key={finding.check}>
                  <Concern {...finding} />
                </li>
              ))}
            </ul>
          )}
          {concerns.length === 0 || speeds === '' ? null : <p>{speeds}</p>}
          {tried.isNew && usable ? <p>{texts.willBeMade}</p> : null}
          {usable && !tried.isNew ? findings.filter(isAboutRepository).map(aboutRepository) : null}
        </div>
      </Notice>
      <details>
        <summary>{texts.allChecks(findings.length)}</summary>
        <ul class="findings">
          {findings.map(({ check, status, message }) => (
            <li key={check}>
              <Tag look={LOOKS[status]}>{texts.status[status]}</Tag> <strong>{nameOf(check)}</strong>{' '}
              <span class="quiet">
                <Own>{message}</Own>
              </span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

/** A finding about the repository that is there already or will be made: it matters to users who return with an old disk. */
function isAboutRepository({ check, status }: Finding): boolean {
  return check === 'repository' && status === 'ok';
}

function aboutRepository({ check, message }: Finding): JSX.Element {
  return (
    <p key={check}>
      {nameOf(check)}
      {t.common.colon} <Own>{asSentence(message)}</Own>
    </p>
  );
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const LOOKS: Readonly<Record<Finding['status'], Look>> = { ok: 'good', warning: 'warning', error: 'bad' };

function nameOf(check: string): string {
  return t.parts.destination.checks[check] ?? visible(check);
}

/** Uses the agent's own words: it knows best what is wrong with a place and what to do. */
function Concern({ check, message, hint }: Finding): JSX.Element {
  return (
    <>
      <strong>{nameOf(check)}:</strong> <Own>{hint === '' ? message : asSentence(message)}</Own>
      {hint === '' ? null : (
        <>
          {' '}
          <Own>{hint}</Own>
        </>
      )}
    </>
  );
}
