/** Tries out a destination as it is typed in, before it is saved. The result is valid until something else is typed. */
import { useRef, useState } from 'preact/hooks';
import type { DestinationTest, Directories } from '../../api/schemas/page/protect.ts';
import { ask, AskError, withQuery } from '../agent/ask.ts';
import { useAction } from '../agent/use-asked.ts';
import {
  type DestinationDraft,
  type DestinationSetting,
  type TypedSecret,
  secretsOf,
  settingOf,
  splitPath,
} from './destination-draft.ts';

type Test = DestinationTest;
/** The reply of `POST /secrets`. */
interface Reference {
  readonly file: string;
}

export interface Tried {
  /** The value to store under its name in the settings. */
  readonly setting: DestinationSetting;
  readonly test: Test;
  /** The directory does not exist yet, so the one above it was tried. */
  readonly isNew: boolean;
}

export interface Trial {
  readonly isBusy: boolean;
  readonly problem: AskError | undefined;
  /** The result; undefined until the destination was tried as it is now typed. */
  readonly tried: Tried | undefined;
  /** Resolves to the result; undefined when it could not be tried, and `problem` says why. */
  readonly run: () => Promise<Tried | undefined>;
}

/** A destination that is already in the settings. */
export interface KnownDestination {
  readonly name: string;
  readonly setting: DestinationSetting;
}

/** The check that fails where a repository is already and has to be opened with another passphrase. */
const NEEDS_PASSPHRASE = 'passphrase';

export function needsPassphrase({ findings }: Test): boolean {
  return findings.some(({ check, status }) => check === NEEDS_PASSPHRASE && status === 'error');
}

/** @param files paths that are to be backed up there */
export function useDestinationTrial(
  draft: DestinationDraft,
  known?: KnownDestination,
  files: readonly string[] = [],
): Trial {
  const [last, setLast] = useState<{ readonly of: string; readonly tried: Tried } | undefined>(undefined);
  /** Where the agent stores each typed secret, so that it is sent only once. */
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
): Promise<Partial<Record<TypedSecret, Reference>>> {
  const found: Partial<Record<TypedSecret, Reference>> = {};
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

/** Leaves out the finding about a repository in the directory above, which has nothing to do with this destination. */
export function withoutRepository(test: Test): Test {
  const findings = test.findings.filter(({ check }) => check !== 'repository' && check !== NEEDS_PASSPHRASE);
  return { ...test, findings, usable: findings.every(({ status }) => status !== 'error') };
}

/** The directory in which the first backup would make this one; undefined when this one exists, or that is unknown. */
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
    // The trial itself says what is wrong with the place.
    if (error instanceof AskError && error.status >= 400 && error.status < 500) return undefined;
    throw error;
  }
}
