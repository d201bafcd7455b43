/**
 * Checks changes that the page makes to settings that involve secrets, which no token may make. The page may change
 * destinations and notices whose secrets were just typed on it. A secret that is already configured must keep its
 * place, and must still be sent to the same place.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KeyPath } from '../../config/config-error.ts';
import { schemaNode, type FilledConfig, type SchemaNode } from '../../config/schema.ts';
import { SECRET_TITLE } from '../../config/schema-parts.ts';
import { guarded, requireSameLimits } from './settings-guard.ts';

/**
 * Whether the secret in this file was typed on the page during this run of the agent, and no setting has referred to it
 * yet.
 */
export type IsFresh = (file: string) => boolean;

type FilledDestination = FilledConfig['destinations'][string];

/** @throws {ApiError} FORBIDDEN, naming the first setting that may not be changed in this way */
export function requireUnguardedByPage(
  present: FilledConfig,
  { values: wanted, written }: { readonly values: FilledConfig; readonly written: object },
  isFresh: IsFresh,
): void {
  requireSameLimits(present, wanted, written);
  for (const [name, destination] of Object.entries(wanted.destinations))
    requireDestinationUnguarded(name, destination, present, isFresh);
  const schema = schemaNode().properties?.['notices']?.properties ?? {};
  for (const kind of ['ntfy', 'webhook', 'email'] as const) {
    const node = schema[kind] ?? {};
    requireKept(
      ['notices', kind],
      node,
      { present: present.notices[kind], wanted: wanted.notices[kind] },
      isFresh,
    );
  }
}

/**
 * Checks one destination, under the name that it has or will have.
 * @throws {ApiError} FORBIDDEN
 */
export function requireDestinationUnguarded(
  name: string,
  wanted: FilledDestination,
  { destinations }: Pick<FilledConfig, 'destinations'>,
  isFresh: IsFresh,
): void {
  const present = Object.hasOwn(destinations, name) ? destinations[name] : undefined;
  const [node = {}] = Object.values(schemaNode().properties?.['destinations']?.patternProperties ?? {});
  requireKept(['destinations', name], node, { present, wanted }, isFresh);
}

/** Settings that name the program to run, or a file that can name one. */
const COMMANDS: ReadonlySet<string> = new Set(['access.rclone.program', 'access.rclone.configFile']);

/** Settings whose change cannot redirect a secret. All others are treated as part of where a secret is sent. */
const HARMLESS: ReadonlySet<string> = new Set([
  'access.s3.accessKeyId',
  'access.s3.storageClass',
  'access.s3.serverSideEncryption',
  'access.s3.kmsKeyId',
  'access.s3.objectLockMode',
  'access.s3.objectLockDays',
  'access.sftp.appendOnly',
  'access.sftp.connections',
  'access.webdav.user',
  'access.gs.storageClass',
  // Of mail notices.
  'user',
  'from',
  'to',
]);

interface Change {
  readonly present: unknown;
  readonly wanted: unknown;
}

function requireKept(path: KeyPath, node: SchemaNode, { present, wanted }: Change, isFresh: IsFresh): void {
  if (isDeepStrictEqual(present, wanted)) return;
  const before = leavesOf(present, node);
  const after = leavesOf(wanted, node);
  const at = (place: string): KeyPath => [...path, ...place.split('.')];
  for (const place of COMMANDS) {
    const command = after.others.get(place);
    if (command !== undefined && command !== before.others.get(place)) throw guarded(at(place));
  }
  const kept = [...after.secrets].filter(([, reference]) => !isTyped(reference, isFresh));
  for (const [place, reference] of kept)
    if (!isDeepStrictEqual(reference, before.secrets.get(place))) throw guarded(at(place), TYPE_IT);
  const [first] = kept;
  if (first !== undefined && !isDeepStrictEqual(routeOf(before), routeOf(after)))
    throw guarded(at(first[0]), TYPE_IT_ANEW);
}

const TYPE_IT =
  'Enter the secret on the page, or change where it is in the configuration file on the computer itself.';
const TYPE_IT_ANEW =
  'The secret would be sent somewhere else. Enter it again, or change the setting on the computer itself.';

function isTyped(reference: unknown, isFresh: IsFresh): boolean {
  if (typeof reference !== 'object' || reference === null || !('file' in reference)) return false;
  return typeof reference.file === 'string' && isFresh(reference.file);
}

/** The values of a destination or notice by their dotted paths, without nulls. */
interface Leaves {
  readonly secrets: ReadonlyMap<string, unknown>;
  readonly others: ReadonlyMap<string, unknown>;
}

function leavesOf(value: unknown, node: SchemaNode): Leaves {
  const secrets = new Map<string, unknown>();
  const others = new Map<string, unknown>();
  const visit = (part: unknown, schema: SchemaNode, names: readonly string[]): void => {
    if (part === null || part === undefined) return;
    if (schema.title === SECRET_TITLE) secrets.set(names.join('.'), part);
    else if (typeof part !== 'object' || Array.isArray(part)) others.set(names.join('.'), part);
    else
      for (const [name, inner] of Object.entries(part))
        visit(inner, schema.properties?.[name] ?? {}, [...names, name]);
  };
  visit(value, node, []);
  return { secrets, others };
}

function routeOf({ others }: Leaves): ReadonlyMap<string, unknown> {
  return new Map(
    [...others].filter(([place]) => !HARMLESS.has(place)).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
