/** Reasons for not removing an entry that a restore would otherwise remove. */

export type StayReason = keyof typeof TEXTS;

const TEXTS = {
  root_directory: 'nothing is removed from the root directory itself',
  mounted_since: 'a file system is mounted there that the backup may not have seen',
  mounted: 'another file system is mounted there',
  left_out: 'something in it is left out of this restore',
  own: "Holdfast's own data lie there",
  unread: 'the backup could not read it, so that it is missing says nothing',
} as const;

/** The end of a sentence: `it stays, because …`. */
export function stayText(reason: StayReason): string {
  return TEXTS[reason];
}
