/** The settings while somebody changes them: read, checked by the agent as they are typed, and saved on top of what was read. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Validation } from '../../../api/schemas/page/settings.ts';
import { AskError, ask } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { asAskError } from '../../agent/use-asked.ts';
import {
  type Change,
  changesOf,
  isWithin,
  type KeyPath,
  rebase,
  shownPath,
  withValue,
} from './settings-draft.ts';
import type { SecretReference, Settings } from './settings-values.ts';

interface Report {
  readonly revision: string;
  readonly settings: Settings;
}

interface TypedSecret {
  readonly path: KeyPath;
  readonly text: string;
}

interface State {
  readonly revision: string;
  readonly saved: Settings;
  readonly draft: Settings;
  /** Not stored yet, by their places. */
  readonly secrets: ReadonlyMap<string, TypedSecret>;
}

export interface SettingsDraft {
  readonly revision: string;
  readonly saved: Settings;
  readonly draft: Settings;
  readonly changes: readonly Change[];
  /** What the agent would refuse. */
  readonly problems: Validation['problems'];
  /** Why nothing could be checked or saved. */
  readonly failure: AskError | undefined;
  readonly isSaving: boolean;
  readonly isJustSaved: boolean;
  /** Somebody else has changed the settings meanwhile. */
  readonly isOutdated: boolean;
  readonly set: (path: KeyPath, value: unknown) => void;
  /** Stored when the settings are saved; an empty one is forgotten. */
  readonly typeSecret: (path: KeyPath, text: string) => void;
  readonly typedSecret: (path: KeyPath) => string;
  readonly problemAt: (path: KeyPath) => Validation['problems'][number] | undefined;
  /** True when it is saved. */
  readonly save: () => Promise<boolean>;
  readonly discard: () => void;
  /** Goes on from the newest settings, with what was changed here. */
  readonly catchUp: () => void;
}

/** Kept for the next page of settings, which then begins without waiting. */
let lastRead: Report | undefined;

const CHECK_AFTER_MS = 300;
/** For so long a page says that it is saved. */
const SAVED_MS = 8_000;
/** Stands for a secret that is typed until it is stored. */
const TYPED: SecretReference = { file: '/secret' };

export function useSettingsDraft(): { draft: SettingsDraft | undefined; problem: AskError | undefined } {
  const [state, setState] = useState<State | undefined>(() => lastRead && begin(lastRead));
  const [problem, setProblem] = useState<AskError | undefined>(undefined);
  const [newer, setNewer] = useState<Report | undefined>(undefined);
  const [problems, setProblems] = useState<Validation['problems']>([]);
  const [failure, setFailure] = useState<AskError | undefined>(undefined);
  const [isSaving, setSaving] = useState(false);
  const [isJustSaved, setJustSaved] = useState(false);
  const latest = useRef(state);
  latest.current = state;

  const read = async (): Promise<void> => {
    try {
      const report = await ask<Report>('GET', '/settings');
      lastRead = report;
      setProblem(undefined);
      const { current } = latest;
      if (current?.revision === report.revision) return;
      if (current === undefined || !isChanged(current)) setState(begin(report));
      else setNewer(report);
    } catch (error) {
      setProblem(asAskError(error));
    }
  };
  useEffect(() => void read(), []);
  useEvents(({ kind }) => {
    if (kind === 'config' && !isSaving) void read();
  });

  useEffect(() => {
    if (!isJustSaved) return undefined;
    const timer = setTimeout(() => setJustSaved(false), SAVED_MS);
    return () => clearTimeout(timer);
  }, [isJustSaved]);

  const wanted = useMemo(() => (state === undefined ? undefined : withTyped(state, TYPED)), [state]);
  // Where no secret is stored yet, the agent could only say that it knows of none.
  const checkable = useMemo(() => (state === undefined ? undefined : withTyped(state, null)), [state]);
  const changes = useMemo(
    () => (state === undefined ? [] : changesOf(state.saved, wanted)),
    [state?.saved, wanted],
  );
  const isDirty = changes.length > 0;
  useEffect(() => {
    if (!isDirty) {
      setProblems([]);
      return;
    }
    setJustSaved(false);
    // What is being saved is judged by that.
    if (isSaving) return;
    const controller = new AbortController();
    const { signal } = controller;
    const check = async (): Promise<void> => {
      try {
        const body = { settings: checkable };
        const found = await ask<Validation>('POST', '/settings/validate', { body, signal });
        if (!signal.aborted) setProblems(found.problems);
      } catch (error) {
        if (signal.aborted) return;
        const asked = asAskError(error);
        if (asked.code === 'REVISION_MISMATCH') await read();
        else setFailure(asked);
      }
    };
    const timer = setTimeout(() => void check(), CHECK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [checkable, isDirty, isSaving]);

  if (state === undefined) return { draft: undefined, problem };
  const change = (how: (before: State) => State): void => {
    setFailure(undefined);
    setState((before) => before && how(before));
  };
  const save = async (): Promise<boolean> => {
    if (isSaving) return false;
    setSaving(true);
    setFailure(undefined);
    try {
      const settings = await storeSecrets(state, setState);
      const body = { settings };
      const report = await ask<Report>('PUT', '/settings', { body, ifMatch: state.revision });
      lastRead = report;
      setState(begin(report));
      setNewer(undefined);
      setJustSaved(true);
      return true;
    } catch (error) {
      const asked = asAskError(error);
      if (asked.code === 'REVISION_MISMATCH') await read();
      else setFailure(asked);
      return false;
    } finally {
      setSaving(false);
    }
  };
  const draft: SettingsDraft = {
    revision: state.revision,
    saved: state.saved,
    draft: state.draft,
    changes,
    problems,
    failure: failure ?? problem,
    isSaving,
    isJustSaved,
    isOutdated: newer !== undefined,
    set: (path, value) => change((before) => ({ ...before, draft: withValue(before.draft, path, value) })),
    typeSecret: (path, text) =>
      change((before) => ({ ...before, secrets: withSecret(before.secrets, path, text) })),
    typedSecret: (path) => state.secrets.get(shownPath(path))?.text ?? '',
    problemAt: (path) => problems.find(({ field }) => isWithin(field, path)),
    save,
    discard: () => {
      change((before) => ({ ...before, draft: before.saved, secrets: new Map() }));
      if (newer !== undefined) setState(begin(newer));
      setNewer(undefined);
    },
    catchUp: () => {
      if (newer === undefined) return;
      change(({ saved, draft, secrets }) => ({
        ...begin(newer),
        draft: rebase(saved, draft, newer.settings),
        secrets,
      }));
      setNewer(undefined);
    },
  };
  return { draft, problem };
}

function begin({ revision, settings }: Report): State {
  return { revision, saved: settings, draft: settings, secrets: new Map() };
}

function isChanged(state: State): boolean {
  return state.secrets.size > 0 || changesOf(state.saved, state.draft).length > 0;
}

function withSecret(secrets: State['secrets'], path: KeyPath, text: string): State['secrets'] {
  const next = new Map(secrets);
  if (text === '') next.delete(shownPath(path));
  else next.set(shownPath(path), { path, text });
  return next;
}

/** With the same in place of each secret that is not stored yet. */
function withTyped({ draft, secrets }: State, place: SecretReference | null): Settings {
  return [...secrets.values()].reduce((settings, { path }) => withValue(settings, path, place), draft);
}

/** Each is stored once, also when saving fails afterwards. */
async function storeSecrets(
  { draft, secrets }: State,
  setState: (how: (before: State | undefined) => State | undefined) => void,
): Promise<Settings> {
  let settings = draft;
  for (const { path, text } of secrets.values()) {
    const reference = await ask<SecretReference>('POST', '/secrets', { body: { secret: text } });
    settings = withValue(settings, path, reference);
    setState(
      (before) =>
        before && {
          ...before,
          draft: withValue(before.draft, path, reference),
          secrets: withSecret(before.secrets, path, ''),
        },
    );
  }
  return settings;
}
