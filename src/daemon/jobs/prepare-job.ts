/** Builds what an engine process has to know about a job in addition to its specification. */
import { treePath } from '../../base/tree-path.ts';
import type { ConfigSource } from '../../config/config-source.ts';
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { EngineJob } from '../../engine/protocol.ts';
import type { Job } from '../../jobs/job.ts';
import type { PassPart } from '../../jobs/pass.ts';
import type { RetentionRules } from '../../repository/retention/forgetting.ts';
import type { Alarms } from '../alarms/alarm-book.ts';
import type { Destinations, Place } from '../places/destinations.ts';
import { sourceOf } from '../sources/configured-source.ts';
import { readerOfPass, readerOfPlace } from '../sources/watch-readers.ts';
import type { Watching } from '../sources/watching.ts';
import type { OpenedPlaces } from './opened-places.ts';
import { preparePass } from './prepare-pass.ts';

export interface Preparing {
  readonly destinations: Destinations;
  readonly opened: OpenedPlaces;
  readonly settings: () => ConfigSource['current'];
  readonly watching: Watching;
  readonly alarms: Alarms;
  readonly stateDirectory: string;
  readonly never: () => readonly string[];
}

/** @throws {RequestError} INVALID_DESTINATION; {ConfigError} {StateError} when a secret is unavailable */
export async function prepareJob(
  job: Job,
  part: PassPart,
  parts: Preparing,
  signal: AbortSignal,
): Promise<EngineJob> {
  const { destinations, settings, watching, alarms, stateDirectory, never } = parts;
  const { spec } = job;
  const place = destinations.find(spec.destination);
  parts.opened.opens(job, place);
  const source = spec.type === 'backup' ? sourceOf(settings(), spec) : undefined;
  const copies = part.kind === 'copies';
  const reader = readerOf(part, source, place);
  const changes = copies ? null : watching.take(job, reader, part.kind === 'reads');
  const pass = await preparePass(place, part, parts, signal);
  return {
    id: job.id,
    spec,
    destination: await destinations.open(place, signal),
    stateDirectory,
    never: never().map((path) => treePath(path)),
    changes,
    exclude: source?.exclude ?? NOTHING_EXCLUDED,
    retention: spec.type !== 'prune' || !spec.apply_retention ? null : retentionRules(settings(), alarms),
    emptyExpected: spec.type === 'backup' && alarms.isEmptyExpected(spec.source),
    ...(spec.type === 'backup' && !copies ? { comparison: alarms.comparisonOf(spec) } : {}),
    workers: null,
    ...(pass === undefined ? {} : { pass }),
    allowedRoots: settings().restore.allowedRoots,
  };
}

const NOTHING_EXCLUDED: EngineJob['exclude'] = {
  patterns: [],
  ignoreFiles: [],
  caches: false,
  ifPresent: [],
  largerThan: null,
  oneFileSystem: false,
};

/** The reader whose watched changes are taken. Whether they reach back to the parent snapshot is judged by their time. */
function readerOf(part: PassPart, source: SourceSettings | undefined, place: Place): string {
  return part.kind === 'reads' && source !== undefined ? readerOfPass(source) : readerOfPlace(place);
}

/** The retention rules for a prune: the settings, and what alarms freeze. */
export function retentionRules(
  { retention, timeZone }: Pick<Settings, 'retention' | 'timeZone'>,
  alarms: Pick<Alarms, 'freezes'>,
): RetentionRules {
  return {
    keep_last: retention.keepLast,
    keep_hourly: retention.keepHourly,
    keep_daily: retention.keepDaily,
    keep_weekly: retention.keepWeekly,
    keep_monthly: retention.keepMonthly,
    keep_yearly: retention.keepYearly,
    keep_within: retention.keepWithin,
    time_zone: timeZone,
    frozen: alarms.freezes(),
  };
}
