/**
 * Parses the names of objects and chunks in errors, findings and `--json`: `pack 3f…`, or a key such as `keys/ring-1`.
 * Nothing else parses such names.
 */

export type NamedKind = 'pack' | 'tree' | 'snapshot' | 'tombstone' | 'index object' | 'chunk';

const NAME = /^(pack|tree|snapshot|tombstone|index object|chunk) ([0-9a-f]+)$/;

/** The kind and name; undefined for a key. */
export function readObjectName(
  object: string,
): { readonly kind: NamedKind; readonly name: string } | undefined {
  const [, kind, name] = NAME.exec(object) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind: kind as NamedKind, name };
}
