/** Turns complete new settings into changes of the present configuration that leave everything else in it alone. */
import { isDeepStrictEqual } from 'node:util';
import type { ConfigChange } from './config-edit.ts';
import { parseText } from './parse.ts';
import type { FilledConfig } from './schema.ts';
import { checkAgainstSchema, type Fault } from './validate.ts';

export interface Replacement {
  /** With all defaults filled in; undefined when there are faults. */
  readonly values: FilledConfig | undefined;
  /**
   * The changes to the file. Values that stay the same keep their spelling, and stay unwritten where a default applies.
   */
  readonly changes: readonly ConfigChange[];
  readonly faults: readonly Fault[];
}

/** The settings in effect: a file's text and values, or all defaults without a file. */
export interface PresentSettings {
  readonly text: string;
  readonly values: FilledConfig;
}

/** Checks `wanted` against the schema, and determines the changes from `present` to it. */
export function replaceSettings(present: PresentSettings, wanted: object): Replacement {
  const { value: filled, faults } = checkAgainstSchema(wanted);
  if (filled === undefined) return { values: undefined, changes: [], faults };
  const written = parseText(present.text).value as Written;
  const merged = mergeObjects(
    { written, filled: withoutSchema(present.values) },
    { written: withoutSchema(wanted), filled: withoutSchema(filled) },
  );
  // `$schema` tells editors where the schema is; it is not a setting.
  const value = written['$schema'] === undefined ? merged : { $schema: written['$schema'], ...merged };
  return { values: filled, changes: [{ kind: 'set', path: [], value }], faults: [] };
}

type Written = Readonly<Record<string, unknown>>;

/** A value as written in the file (undefined where it is not written), and with defaults filled in. */
interface Side<T = unknown> {
  readonly written: T | undefined;
  readonly filled: T;
}

function withoutSchema(config: object): Written {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== '$schema'));
}

function merge(old: Side, wanted: Side): unknown {
  if (isDeepStrictEqual(old.filled, wanted.filled)) return old.written;
  if (isObjects(old) && isObjects(wanted)) return mergeObjects(old, wanted);
  if (isLists(old) && isLists(wanted)) return mergeLists(old, wanted);
  return wanted.written;
}

function isObjects(side: Side): side is Side<Written> {
  return isObject(side.filled) && (side.written === undefined || isObject(side.written));
}

function isObject(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isLists(side: Side): side is Side<readonly unknown[]> {
  return Array.isArray(side.filled) && (side.written === undefined || Array.isArray(side.written));
}

/** Keeps the order of the file; new keys are added at the end. */
function mergeObjects(old: Side<Written>, wanted: Side<Written>): Written {
  const keys = new Set([...Object.keys(old.written ?? {}), ...Object.keys(wanted.filled)]);
  const merged = [...keys]
    .filter((key) => Object.hasOwn(wanted.filled, key))
    .map((key): [string, unknown] => [key, merge(at(old, key), at(wanted, key))]);
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}

function at({ written, filled }: Side<Written>, key: string): Side {
  return { written: own(written ?? {}, key), filled: own(filled, key) };
}

function own(values: Written, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/**
 * Items that already exist keep their spelling. In a list of unchanged length each new item replaces the one at its
 * position.
 */
function mergeLists(old: Side<readonly unknown[]>, wanted: Side<readonly unknown[]>): readonly unknown[] {
  const sides = (side: Side<readonly unknown[]>): readonly Side[] =>
    side.filled.map((filled, index) => ({ filled, written: side.written?.[index] ?? filled }));
  const before = sides(old);
  return sides(wanted).map((item, index) => {
    const same = before.find(({ filled }) => isDeepStrictEqual(filled, item.filled));
    const replaced = before.length === wanted.filled.length ? before[index] : undefined;
    return merge(same ?? replaced ?? { written: undefined, filled: undefined }, item);
  });
}
