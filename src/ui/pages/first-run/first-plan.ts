/** What somebody chooses on the first run, and what the settings become by it. */
import type { Suggestions } from '../../../api/schemas/page/protect.ts';
import type { AskedBackup } from '../../parts/back-up.ts';
import { type DestinationDraft, emptyDraft, folderIn, freeName } from '../../parts/destination-draft.ts';
import type { DestinationKind, DestinationSetting } from '../../parts/destination-draft.ts';

export interface FirstPlan {
  /** Paths as they are offered or were added. */
  readonly chosen: readonly string[];
  /** Added by hand: offered beside the suggestions. */
  readonly added: readonly string[];
  /** `present`: the default destination as it is. */
  readonly place: 'present' | 'elsewhere';
  readonly draft: DestinationDraft;
  /** Of a place elsewhere, once it was tried and can be used. */
  readonly setting: DestinationSetting | undefined;
}

/** What most people want: their home, and on a server what it serves; a disk if one is there. */
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

/** Those that are in none of the others, each once. */
export function outermost(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => isWithin(path, other)));
}

export function withChosen(plan: FirstPlan, path: string, isChosen: boolean): FirstPlan {
  const others = plan.chosen.filter((one) => one !== path);
  return { ...plan, chosen: isChosen ? [...others, path] : others };
}

/** Something that was chosen by hand; that it is in the list already is no mistake. */
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

/** Sources that are there stay as they are; a new place becomes the one that all take that name none. */
export function settingsWith(settings: Settings, plan: FirstPlan): Settings {
  const known = new Set(settings.sources.map(({ path }) => path));
  const sources = [
    ...settings.sources,
    ...outermost(plan.chosen)
      .filter((path) => !known.has(path))
      .map((path) => ({ path })),
  ];
  if (plan.place === 'present' || plan.setting === undefined) return { ...settings, sources };
  const { url, access } = plan.setting;
  const there = Object.entries(settings.destinations).find(([, one]) => isAt(one, url))?.[0];
  const name = there ?? freeName(NAMES[plan.draft.kind], [...Object.keys(settings.destinations), 'default']);
  return {
    ...settings,
    sources,
    // Whoever comes by here twice does not get two of the same place.
    destinations: {
      ...settings.destinations,
      [name]: there === undefined ? plan.setting : reachedBy(settings.destinations[there], access),
    },
    defaultDestination: name,
  };
}

/** The first backups of what is chosen, which go where the settings say. */
export function backupsOf({ sources }: Settings, paths: readonly string[]): readonly AskedBackup[] {
  return paths.map((path) => ({
    path,
    destinations: sources
      .filter((source) => source.path === path)
      .flatMap(({ destination, destinations }) => destinations ?? destination ?? []),
  }));
}

/** As it was tried; a place that was given nothing to be reached with keeps what it has. */
function reachedBy(destination: unknown, access: DestinationSetting['access']): unknown {
  const isGiven = typeof destination === 'object' && access !== null && access !== undefined;
  return isGiven ? { ...destination, access } : destination;
}

function isAt(destination: unknown, url: string): boolean {
  return (
    typeof destination === 'object' && destination !== null && 'url' in destination && destination.url === url
  );
}
