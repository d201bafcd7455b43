/** What the user wants restored, step by step, the request for it, and the same on the command line. */
import { holdfast, shellWord } from '../../agent/program.ts';
import type { RestoreRequest } from '../../../api/schemas/job.ts';
import { type PathRef, requestPath, shellPath } from './path-ref.ts';
import { repositoryOption, shortId } from './reading-commands.ts';

export const OVERWRITE_MODES = ['never', 'if_changed', 'if_newer', 'always'] as const;
export type OverwriteMode = (typeof OVERWRITE_MODES)[number];

/** `chosen`: the entries that were chosen; `directory`: the one that was looked at; `all`: everything in the snapshot. */
export type What = 'chosen' | 'directory' | 'all';

export interface RestoreDraft {
  readonly snapshot: string;
  readonly what: What;
  readonly chosen: readonly PathRef[];
  readonly directory: PathRef;
  /** Whether files go back to where they were; otherwise they go to `target`. */
  readonly isInPlace: boolean;
  readonly target: string;
  readonly overwrite: OverwriteMode;
  readonly isVerified: boolean;
  readonly withOwnership: boolean;
  readonly deletesExtra: boolean;
}

/** @param overwrite `never`: existing files are not touched unless the user says so */
export function draftOf(
  snapshot: string,
  chosen: readonly PathRef[],
  directory: PathRef,
  overwrite: OverwriteMode = 'never',
): RestoreDraft {
  return {
    snapshot,
    what: chosen.length > 0 ? 'chosen' : 'directory',
    chosen,
    directory,
    isInPlace: true,
    target: '',
    overwrite,
    isVerified: true,
    withOwnership: false,
    deletesExtra: false,
  };
}

/** The paths to restore; empty for everything. */
export function pathsOf({ what, chosen, directory }: RestoreDraft): readonly PathRef[] {
  if (what === 'chosen') return chosen;
  return what === 'all' || directory.path === '/' ? [] : [directory];
}

export function requestOf(draft: RestoreDraft, isDryRun: boolean): RestoreRequest {
  const paths = pathsOf(draft).map(requestPath);
  return {
    snapshot_id: draft.snapshot,
    ...(paths.length === 0 ? {} : { paths }),
    ...(draft.isInPlace ? { in_place: true } : { target: draft.target.trim() }),
    options: {
      overwrite: draft.overwrite,
      dry_run: isDryRun,
      verify: draft.isVerified,
      delete_extra: draft.deletesExtra,
      restore_ownership: draft.withOwnership,
    },
  };
}

export interface CommandFacts {
  readonly snapshot: string;
  readonly paths: readonly PathRef[];
  /** Null: in place. */
  readonly target: string | null;
  readonly overwrite: OverwriteMode;
  readonly isVerified: boolean;
  readonly withOwnership: boolean;
  readonly deletesExtra: boolean;
  /** The destination of the snapshot; undefined for the default one. */
  readonly destination: string | undefined;
}

export function restoreCommand(facts: CommandFacts): string {
  const { snapshot, paths, target, overwrite, destination } = facts;
  return [
    holdfast`restore`,
    ...repositoryOption(destination),
    shortId(snapshot),
    ...paths.map(shellPath),
    target === null ? '--in-place' : `--target ${shellWord(target)}`,
    ...(overwrite === 'never' ? [] : [`--overwrite ${overwrite.replace('_', '-')}`]),
    ...(facts.deletesExtra ? ['--delete-extra'] : []),
    ...(facts.withOwnership ? ['--restore-ownership'] : []),
    ...(facts.isVerified ? [] : ['--no-verify']),
  ].join(' ');
}

export function commandOfDraft(draft: RestoreDraft, destination: string | undefined): string {
  const { isInPlace, target } = draft;
  return restoreCommand({
    ...draft,
    paths: pathsOf(draft),
    target: isInPlace ? null : target.trim(),
    destination,
  });
}
