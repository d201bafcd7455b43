/** Every target by its name, and the file that it is made in: only that one is loaded. */
import type { FuzzTarget, TargetMaker, TargetTable } from '../target.ts';

export const NAMES = {
  stored: [
    'header',
    'pack-directory',
    'pack-tail',
    'tree-chunk',
    'index-object',
    'snapshot',
    'head',
    'lease',
    'tombstone',
    'config',
    'keyring',
    'grant',
    'cbor-map',
    'compressed-record',
    'segment',
  ],
  keys: ['sealed-object', 'ring', 'grants', 'slot', 'recovery-code'],
  configuration: ['config-file', 'config-edit'],
  requests: [
    'json-body',
    'cursor',
    'catalog-cursor',
    'request-values',
    'webdav-target',
    'propfind',
    'multistatus',
  ],
  texts: ['location', 'schedule', 'amounts', 'exclude-patterns', 'known-hosts', 'ssh-config', 'mounts'],
  partner: ['plan', 'order', 'service-key', 'webhook-target'],
  state: [
    'writer-state',
    'enrollment',
    'walk-memory',
    'key-copies',
    'journal',
    'name-block',
    'catalog-database',
  ],
  planted: ['planted-crash', 'planted-hang', 'planted-memory', 'planted-death'],
} as const;

export type Group = keyof typeof NAMES;

const TABLES: { readonly [G in Group]: () => Promise<TargetTable<G>> } = {
  stored: async () => (await import('./stored.ts')).STORED,
  keys: async () => (await import('./keys.ts')).KEYS,
  configuration: async () => (await import('./configuration.ts')).CONFIGURATION,
  requests: async () => (await import('./requests.ts')).REQUESTS,
  texts: async () => (await import('./texts.ts')).TEXTS,
  partner: async () => (await import('./partner.ts')).PARTNER,
  state: async () => (await import('./state.ts')).STATE,
  planted: async () => (await import('./planted.ts')).PLANTED,
};

const GROUPS = Object.keys(NAMES) as Group[];

/** Those of the product's own parsers. */
export const TARGET_NAMES: readonly string[] = GROUPS.filter((group) => group !== 'planted').flatMap(
  (group) => NAMES[group],
);

/** @throws when there is no target of that name */
export async function loadTarget(name: string): Promise<FuzzTarget> {
  for (const group of GROUPS) {
    const table: Readonly<Record<string, TargetMaker>> | undefined = NAMES[group].some((one) => one === name)
      ? await TABLES[group]()
      : undefined;
    const make = table?.[name];
    if (make !== undefined) return await make();
  }
  throw new Error(`There is no target ${name}.`);
}
