/**
 * Reports the heads of the repositories to the service as a witness. It remembers how far each repository had come, so
 * that a rollback is noticed even if this machine's own memory was rolled back as well. Ids are random and hashes are
 * of sealed records, so they reveal nothing about what is backed up.
 */
import { fieldOf } from './ask-partner.ts';

export interface SnapshotHead {
  readonly repository_id: string;
  readonly writer: string;
  readonly seq: number;
  /** SHA-256 of the record, in hex. */
  readonly hash: string;
}

const MOST_HEADS = 32;
const ID = /^[0-9a-f]{32}$/;
const HASH = /^[0-9a-f]{64}$/;

export class Witness {
  /** For each writer's name, the head that was last reported. */
  readonly #told = new Map<string, string>();
  /** Names of writers for which the service remembers something else. */
  readonly #refused = new Set<string>();

  /** The heads that were not reported yet, as many as fit into a report; the rest follows in the next one. */
  news(heads: readonly SnapshotHead[]): readonly SnapshotHead[] {
    const news = heads
      .filter(isTellable)
      .filter((head) => this.#told.get(nameOf(head)) !== valueOf(head))
      .slice(0, MOST_HEADS)
      .map(({ repository_id, writer, seq, hash }) => ({ repository_id, writer, seq, hash }));
    for (const head of news) this.#told.set(nameOf(head), valueOf(head));
    return news;
  }

  /** Processes the service's answer to the heads of a report. Returns how many heads it newly contradicts. */
  answered(heads: readonly SnapshotHead[], refusals: unknown): number {
    const refused = new Set(
      (Array.isArray(refusals) ? refusals : [])
        .filter((one) => fieldOf(one, 'reason') === 'rolled_back' || fieldOf(one, 'reason') === 'forked')
        .map((one) => `${String(fieldOf(one, 'repository_id'))} ${String(fieldOf(one, 'writer'))}`),
    );
    let more = 0;
    for (const name of heads.map(nameOf)) {
      if (!refused.has(name)) this.#refused.delete(name);
      else if (!this.#refused.has(name)) {
        this.#refused.add(name);
        more += 1;
      }
    }
    return more;
  }

  get isContradicted(): boolean {
    return this.#refused.size > 0;
  }
}

function isTellable({ repository_id, writer, seq, hash }: SnapshotHead): boolean {
  return (
    ID.test(repository_id) && ID.test(writer) && Number.isSafeInteger(seq) && seq >= 1 && HASH.test(hash)
  );
}

function nameOf({ repository_id, writer }: SnapshotHead): string {
  return `${repository_id} ${writer}`;
}

function valueOf({ seq, hash }: SnapshotHead): string {
  return `${seq} ${hash}`;
}
