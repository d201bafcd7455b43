/**
 * Finds sources of the settings that no backup stores, or not as meant. They are told when the settings are read and
 * changed, as a job would say so only at its time, or never.
 */
import { statSync } from 'node:fs';
import { NODE_HINT, nodeKind, nodeText } from '../../base/node-kind.ts';
import { errnoOf, RequestError } from '../../base/errors.ts';
import { treePath } from '../../base/tree-path.ts';
import type { Settings } from '../../config/settings.ts';
import { directoryOf } from '../../destination/location.ts';
import { farPlaceOf } from '../../system/far-mounts.ts';
import { isMadeUp, mountOf, mountTable, parseMounts } from '../../system/mount-table.ts';
import { identityAt, type OwnPlace, placeAround } from '../../system/same-place.ts';
import { whereItLeads } from '../../system/where-it-lies.ts';

export interface UnfitSource {
  /** As the settings write them: one, or several that are the same. */
  readonly paths: readonly string[];
  /** Without the final period. */
  readonly message: string;
  readonly hint: string;
}

export interface SourcesToJudge {
  readonly settings: Pick<Settings, 'sources' | 'destinations'>;
  readonly stateDirectory: string;
}

export function unfitSources(judged: SourcesToJudge): readonly UnfitSource[] {
  const own = ownPlaces(judged);
  const paths = new Set(judged.settings.sources.map(({ path }) => path));
  const unfit = [...paths].flatMap((path) => {
    const fault = faultOf(path, own);
    return fault === undefined ? [] : [{ paths: [path], ...fault }];
  });
  return [...unfit, ...sameSources(judged.settings)];
}

/** For a change of the settings that adds the source. @throws {RequestError} INVALID_SOURCE */
export function refuseUnfit(path: string, judged: SourcesToJudge): void {
  const fault = faultOf(path, ownPlaces(judged));
  if (fault !== undefined) throw new RequestError('INVALID_SOURCE', fault.message, { hint: fault.hint });
}

/** For people, when the settings are read. */
export function unfitText({ message, hint }: UnfitSource): string {
  return `${message}. ${hint}`;
}

type Fault = Pick<UnfitSource, 'message' | 'hint'>;

function faultOf(path: string, own: readonly OwnPlace[]): Fault | undefined {
  const lies = whereItLeads(path);
  // Nothing may hang here: what a server shows is left to the job.
  if (isFar(lies)) return undefined;
  const kind = nodeKindAt(lies);
  if (kind !== undefined) return { message: nodeText(path, kind), hint: NODE_HINT };
  const around = placeAround(treePath(lies), own);
  if (around !== undefined)
    return {
      message: `${path} is ${around.reason}, or in it`,
      hint: 'Choose another source: what backups are stored in is never backed up.',
    };
  const type = mountOf(treePath(lies), parseMounts(mountTable()))?.type;
  if (type === undefined || !isMadeUp(type)) return undefined;
  return {
    message: `${path} is on a file system of the kernel (${type}), which has no real files`,
    hint: 'Choose another source: such a file system stores nothing.',
  };
}

/** What no backup includes, as in the engine: the state, and the directories that backups are stored in. */
function ownPlaces({ settings, stateDirectory }: SourcesToJudge): readonly OwnPlace[] {
  const stores = settings.destinations.flatMap(({ name, url }) => {
    const directory = directoryAt(url);
    return directory === undefined ? [] : [{ path: directory, reason: `the destination ${name}` }];
  });
  return [{ path: stateDirectory, reason: "Holdfast's own state directory" }, ...stores].map(
    ({ path, reason }) => {
      const lies = whereItLeads(path);
      return {
        path: treePath(lies),
        reason,
        identity: isFar(lies) ? undefined : identityAt(treePath(lies)),
      };
    },
  );
}

/** Undefined for a remote one, and for a location that cannot be parsed. */
function directoryAt(url: string): string | undefined {
  try {
    return directoryOf(url);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return undefined;
  }
}

/**
 * Sources of one destination that are the same directory, by a link, a mount, or the letter case: both are stored under
 * one path, each with rules of its own, so the newest snapshot has what the last of them includes.
 */
function sameSources({ sources }: SourcesToJudge['settings']): readonly UnfitSource[] {
  const signs = new Map(sources.map(({ path }) => [path, signOf(path)]));
  const groups = Map.groupBy(
    sources.flatMap(({ path, destinations }) => destinations.map((destination) => ({ path, destination }))),
    ({ path, destination }) => JSON.stringify([destination, signs.get(path)]),
  );
  return [...groups.values()].flatMap((group) => {
    const paths = [...new Set(group.map(({ path }) => path))];
    const [{ destination } = { destination: '' }] = group;
    if (paths.length < 2) return [];
    return [
      {
        paths,
        message: `${paths.join(' and ')} are the same source, and are backed up to ${destination} ${paths.length === 2 ? 'twice' : `${paths.length} times`}, so that its newest snapshot goes by the rules of the one that ran last`,
        hint: 'Keep one of them.',
      },
    ];
  });
}

function signOf(path: string): string {
  const lies = whereItLeads(path);
  return (isFar(lies) ? undefined : identityAt(treePath(lies))) ?? lies;
}

function isFar(path: string): boolean {
  return farPlaceOf(treePath(path)) !== undefined;
}

function nodeKindAt(path: string): ReturnType<typeof nodeKind> {
  try {
    return nodeKind(statSync(path));
  } catch (error) {
    // It is not there, or cannot be looked at.
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
