/**
 * What objects and chunks are called in errors, findings and `--json`: `pack 3f…`, or a key such as `keys/ring-1`. This is the one
 * place that reads such a name.
 */

export type NamedKind = 'pack' | 'tree' | 'snapshot' | 'tombstone' | 'index object' | 'chunk';

const NAME = /^(pack|tree|snapshot|tombstone|index object|chunk) ([0-9a-f]+)$/;

/** Undefined for a key. */
export function readObjectName(
  object: string,
): { readonly kind: NamedKind; readonly name: string } | undefined {
  const [, kind, name] = NAME.exec(object) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind: kind as NamedKind, name };
}
