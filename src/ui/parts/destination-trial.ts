/** Tries out a destination as it is typed in, before it is saved; what came of it holds until something is typed again. */
import { useRef, useState } from 'preact/hooks';
import type { DestinationTest, Directories } from '../../api/schemas/page/protect.ts';
import { ask, AskError, withQuery } from '../agent/ask.ts';
import { useAction } from '../agent/use-asked.ts';
import {
  type DestinationDraft,
  type DestinationSetting,
  type SecretField,
  secretsOf,
  settingOf,
  splitPath,
} from './destination-draft.ts';

type Test = DestinationTest;
/** What `POST /secrets` gives. */
interface Reference {
  readonly file: string;
}

export interface Tried {
  /** To be put under its name in the settings. */
  readonly setting: DestinationSetting;
  readonly test: Test;
  /** The directory is not there yet: the one above was tried. */
  readonly isNew: boolean;
}

export interface Trial {
  readonly isBusy: boolean;
  readonly problem: AskError | undefined;
  /** Undefined until it was tried as it now stands. */
  readonly tried: Tried | undefined;
  /** Resolves to what came of it; undefined when it could not be tried, and `problem` says why. */
  readonly run: () => Promise<Tried | undefined>;
}

/** Of a destination that is in the settings already. */
export interface KnownDestination {
  readonly name: string;
  readonly setting: DestinationSetting;
}

/** `files`: paths that are to be backed up there. */
export function useDestinationTrial(
  draft: DestinationDraft,
  known?: KnownDestination,
  files: readonly string[] = [],
): Trial {
  const [last, setLast] = useState<{ readonly of: string; readonly tried: Tried } | undefined>(undefined);
  /** Where each secret that was typed is kept, so that it is sent once. */
  const kept = useRef(new Map<string, Reference>());
  const typed = JSON.stringify(draft);
  const outcome = useRef<Tried | undefined>(undefined);
  const action = useAction(async () => {
    outcome.current = undefined;
    const setting = settingOf(draft, await references(draft, kept.current), known?.setting);
    const tried = await tryOut(draft, setting, known?.name, files);
    outcome.current = tried;
    setLast({ of: typed, tried });
  });
  return {
    isBusy: action.isBusy,
    problem: action.problem,
    tried: last?.of === typed ? last.tried : undefined,
    run: async () => {
      await action.run();
      return outcome.current;
    },
  };
}

async function references(
  draft: DestinationDraft,
  kept: Map<string, Reference>,
): Promise<Partial<Record<SecretField, Reference>>> {
  const found: Partial<Record<SecretField, Reference>> = {};
  for (const [field, secret] of secretsOf(draft)) {
    const reference = kept.get(secret) ?? (await ask<Reference>('POST', '/secrets', { body: { secret } }));
    kept.set(secret, reference);
    found[field] = reference;
  }
  return found;
}

async function tryOut(
  draft: DestinationDraft,
  setting: DestinationSetting,
  name: string | undefined,
  files: readonly string[],
): Promise<Tried> {
  const parent = draft.kind === 'directory' ? await parentOfNew(setting.url) : undefined;
  const destination = parent === undefined ? setting : { ...setting, url: parent };
  const test = await ask<Test>('POST', '/destinations/test', {
    body: { ...(name === undefined || parent !== undefined ? {} : { name }), destination, files },
  });
  return parent === undefined
    ? { setting, test, isNew: false }
    : { setting, test: withoutRepository(test), isNew: true };
}

/** What lies in the directory above is a repository of its own, which this one has nothing to do with. */
export function withoutRepository(test: Test): Test {
  const findings = test.findings.filter(({ check }) => check !== 'repository');
  return { ...test, findings, usable: findings.every(({ status }) => status !== 'error') };
}

/** The directory in which the first backup would make this one; undefined when it is there, or that cannot be told. */
async function parentOfNew(path: string): Promise<string | undefined> {
  const parts = splitPath(path);
  if (parts === undefined) return undefined;
  try {
    const { items, is_cut: isCut } = await ask<Directories>(
      'GET',
      withQuery('/directories', { path: parts.parent }),
    );
    return isCut || items.some(({ name }) => name === parts.name) ? undefined : parts.parent;
  } catch (error) {
    // What is wrong with the place says the trial.
    if (error instanceof AskError && error.status >= 400 && error.status < 500) return undefined;
    throw error;
  }
}
