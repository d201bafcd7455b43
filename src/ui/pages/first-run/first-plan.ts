/** What the user chooses on the first run, and the settings that result from it. */
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { Suggestions } from '../../../api/schemas/page/protect.ts';
import type { AskedBackup } from '../../parts/back-up.tsx';
import {
  type DestinationDraft,
  type DestinationKind,
  type DestinationSetting,
  emptyDraft,
  folderIn,
  freeName,
} from '../../parts/destination-draft.ts';

export interface FirstPlan {
  /** Paths that were offered or added. */
  readonly chosen: readonly string[];
  /** Paths added by hand, which are offered in addition to the suggestions. */
  readonly added: readonly string[];
  /** `present`: the default destination as it is. */
  readonly place: 'present' | 'elsewhere';
  readonly draft: DestinationDraft;
  /** The setting of a place elsewhere, once a trial has shown that it can be used. */
  readonly setting: DestinationSetting | undefined;
}

/** The plan that most people want: their home, and on a server what it serves; on a disk if there is one. */
export function planOf({ sources, disks }: Suggestions): FirstPlan {
  const [disk] = disks;
  const draft = emptyDraft('directory');
  return {
    chosen: outermost(sources.map(({ path }) => path)),
    added: [],
    place: disk === undefined ? 'present' : 'elsewhere',
    draft: disk === undefined ? draft : { ...draft, fields: { path: folderIn(disk.path) } },
    setting: undefined,
  };
}

export function isWithin(path: string, directory: string): boolean {
  return path !== directory && path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

/** The paths that are in none of the others, each once. */
export function outermost(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => isWithin(path, other)));
}

export function withChosen(plan: FirstPlan, path: string, isChosen: boolean): FirstPlan {
  const others = plan.chosen.filter((one) => one !== path);
  return { ...plan, chosen: isChosen ? [...others, path] : others };
}

/** Adds a path that was chosen by hand. It may already be in the list. */
export function withAdded(plan: FirstPlan, path: string, offered: readonly string[]): FirstPlan {
  const isKnown = offered.includes(path) || plan.added.includes(path);
  const added = isKnown ? plan.added : [...plan.added, path];
  return withChosen({ ...plan, added }, path, true);
}

interface PlannedSource {
  readonly path: string;
  readonly destination?: string | null;
  readonly destinations?: readonly string[] | null;
}

export interface Settings {
  readonly sources: readonly PlannedSource[];
  readonly destinations: Readonly<Record<string, unknown>>;
  readonly defaultDestination: string | null;
  readonly [other: string]: unknown;
}

const NAMES: Readonly<Record<DestinationKind, string>> = {
  directory: 'disk',
  s3: 's3',
  sftp: 'server',
  webdav: 'webdav',
  azblob: 'azure',
  gs: 'google',
  rclone: 'rclone',
};

/** The settings with the plan applied. Existing sources stay as they are; a new place becomes the default destination. */
export function settingsWith(settings: Settings, plan: FirstPlan): Settings {
  const known = new Set(settings.sources.map(({ path }) => path));
  const sources = [
    ...settings.sources,
    ...outermost(plan.chosen)
      .filter((path) => !known.has(path))
      .map((path) => ({ path })),
  ];
  if (plan.place === 'present' || plan.setting === undefined) return { ...settings, sources };
  const { url } = plan.setting;
  const there = Object.entries(settings.destinations).find(([, one]) => isAt(one, url))?.[0];
  const name = there ?? freeName(NAMES[plan.draft.kind], [...Object.keys(settings.destinations), 'default']);
  return {
    ...settings,
    sources,
    // A second first run with the same place does not add it twice.
    destinations: {
      ...settings.destinations,
      [name]: there === undefined ? plan.setting : reachedBy(settings.destinations[there], plan.setting),
    },
    defaultDestination: name,
  };
}

/** The first backups of the chosen paths, which go where the settings say. */
export function backupsOf({ sources }: Settings, paths: readonly string[]): readonly AskedBackup[] {
  return paths.map((path) => ({
    path,
    destinations: sources
      .filter((source) => source.path === path)
      .flatMap(({ destination, destinations }) => destinations ?? destination ?? []),
  }));
}

/**
 * The backups that are still to be requested: the agent backs up a new source at once, by itself. One that waits for
 * more than its turn is requested all the same, since the user who presses the button need not wait for a power supply.
 */
export function notBegun(wanted: readonly AskedBackup[], active: readonly AnyJob[]): readonly AskedBackup[] {
  const begun = new Set(
    active.flatMap((job) =>
      job.type === 'backup' && !job.options.dry_run && isOnItsWay(job) ? [job.source] : [],
    ),
  );
  return wanted.filter(({ path }) => !begun.has(path));
}

function isOnItsWay({ waits }: AnyJob): boolean {
  return waits === null || waits.code === 'turn' || waits.code === 'reader';
}

/** The destination with the access and the passphrase that were tried. What was not given stays as it is. */
function reachedBy(destination: unknown, { access, passphrase }: DestinationSetting): unknown {
  if (typeof destination !== 'object') return destination;
  return {
    ...destination,
    ...(access === null || access === undefined ? {} : { access }),
    ...(passphrase === null || passphrase === undefined ? {} : { passphrase }),
  };
}

function isAt(destination: unknown, url: string): boolean {
  return (
    typeof destination === 'object' && destination !== null && 'url' in destination && destination.url === url
  );
}
