/**
 * Finds sources of the settings that no backup stores. They are told when the settings are read and changed, as a job
 * would say so only at its time.
 */
import { statSync } from 'node:fs';
import { NODE_HINT, nodeKind, nodeText } from '../../base/node-kind.ts';
import { errnoOf, RequestError } from '../../base/errors.ts';
import { treePath } from '../../base/tree-path.ts';
import type { Settings } from '../../config/settings.ts';
import { farPlaceOf } from '../../system/far-mounts.ts';
import { whereItLeads } from '../../system/where-it-lies.ts';

export interface UnfitSource {
  /** As the settings write it. */
  readonly path: string;
  /** Without the final period. */
  readonly message: string;
  readonly hint: string;
}

export function unfitSources({ sources }: Pick<Settings, 'sources'>): readonly UnfitSource[] {
  const paths = new Set(sources.map(({ path }) => path));
  return [...paths].flatMap((path) => {
    const fault = faultOf(path);
    return fault === undefined ? [] : [{ path, ...fault }];
  });
}

/** For a change of the settings. @throws {RequestError} INVALID_SOURCE */
export function refuseUnfit(path: string): void {
  const fault = faultOf(path);
  if (fault !== undefined) throw new RequestError('INVALID_SOURCE', fault.message, { hint: fault.hint });
}

/** For people, when the settings are read. */
export function unfitText({ message, hint }: UnfitSource): string {
  return `${message}. ${hint}`;
}

function faultOf(path: string): Pick<UnfitSource, 'message' | 'hint'> | undefined {
  const lies = whereItLeads(path);
  // Nothing may hang here: what a server shows is left to the job.
  if (farPlaceOf(treePath(lies)) !== undefined) return undefined;
  const kind = kindAt(lies);
  return kind === undefined ? undefined : { message: nodeText(path, kind), hint: NODE_HINT };
}

function kindAt(path: string): ReturnType<typeof nodeKind> {
  try {
    return nodeKind(statSync(path));
  } catch (error) {
    // It is not there, or cannot be looked at.
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
