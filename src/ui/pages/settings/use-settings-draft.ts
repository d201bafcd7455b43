/**
 * The settings while the user changes them: read from the agent, checked by it as they are typed, and saved if nobody
 * else changed them.
 */
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
  /** Secrets that are not stored yet, by their paths in the settings. */
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
  /** Whether somebody else has changed the settings meanwhile. */
  readonly isOutdated: boolean;
  readonly set: (path: KeyPath, value: unknown) => void;
  /** Takes a typed secret, which is stored when the settings are saved; an empty one is forgotten. */
  readonly typeSecret: (path: KeyPath, text: string) => void;
  readonly typedSecret: (path: KeyPath) => string;
  readonly problemAt: (path: KeyPath) => Validation['problems'][number] | undefined;
  /** Resolves to true when the settings are saved. */
  readonly save: () => Promise<boolean>;
  readonly discard: () => void;
  /** Continues with the newest settings, and applies the changes made here to them. */
  readonly catchUp: () => void;
}

/** The settings last read, so that the next page of settings appears without waiting. */
let lastRead: Report | undefined;

const CHECK_AFTER_MS = 300;
/** Milliseconds for which a page says that it is saved. */
const SAVED_MS = 8_000;
/** Placeholder for a typed secret until it is stored. */
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
  // A secret that is not stored yet is left out of the check, where the agent could only say that it is missing.
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
    // Saving checks the settings itself.
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

/** The draft with the same placeholder for each secret that is not stored yet. */
function withTyped({ draft, secrets }: State, place: SecretReference | null): Settings {
  return [...secrets.values()].reduce((settings, { path }) => withValue(settings, path, place), draft);
}

/** Stores each typed secret, only once even if saving fails afterwards. */
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
