import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { visible } from '../../components/own-text.tsx';
import { formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { nameOf, textRef } from './path-ref.ts';

/** Says what an incomplete snapshot lacks. It can be restored like any other. */
export function lackingText({ unread_files: { count, paths } }: Pick<Snapshot, 'unread_files'>): string {
  const [first] = paths;
  if (count === null || count === 0 || first === undefined) return t.restore.lacksSome;
  return t.restore.lacks(count, formatCount(count), visible(nameOf(textRef(first))));
}
