import type { ByteString } from '../../base/byte-path.ts';
import { damageOf, RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';

/** `error`: something is lost or cannot be trusted. `warning`: something is not as it should be, but nothing is lost. */
export type Severity = 'error' | 'warning' | 'note';

export interface Finding {
  readonly severity: Severity;
  /** What is affected, e.g. `pack <name>`, `snapshot <id>`, `keys/ring-1`. */
  readonly object: string;
  readonly what: string;
  /** Ids of the live snapshots that cannot be restored in full because of this finding. */
  readonly snapshots: readonly string[];
  /** Paths of files and directories in them, each once; at most MAX_LISTED_FILES. */
  readonly files: readonly ByteString[];
  /** How many files and directories are affected, counted once per snapshot. */
  readonly filesTotal: number;
}

export interface CheckCounts {
  readonly snapshots: number;
  readonly packs: number;
  readonly packBytes: number;
  readonly packsRead: number;
  readonly bytesRead: number;
  readonly chunks: number;
  readonly chunksUnreferenced: number;
  /** Packs that no live snapshot needs; prune removes them. */
  readonly packsUnreferenced: number;
  /** Distinct tree chunks that were traversed. */
  readonly trees: number;
  /** File entries in them. */
  readonly files: number;
}

export interface CheckReport {
  readonly status: 'ok' | 'damaged';
  readonly findings: readonly Finding[];
  /** Findings beyond MAX_FINDINGS, which are only counted. */
  readonly findingsMore: number;
  readonly counts: CheckCounts;
  /** Names of all packs with an error, also of those whose findings are only counted. */
  readonly packsDamaged: ReadonlySet<string>;
  /** Names of the packs that were read whole and found sound. */
  readonly packsProven: readonly string[];
  readonly durationMs: number;
}

/** Receives the progress of a check. Calls must be cheap and must not throw. */
export interface CheckObserver {
  phase(phase: 'listing' | 'structure' | 'reading' | 'affected'): void;
  /** Called after each pack that was read and examined, with the totals so far. */
  packRead(done: { readonly packs: number; readonly bytes: number }): void;
  finding(object: string, what: string): void;
}

export const SILENT_CHECK: CheckObserver = { phase: () => {}, packRead: () => {}, finding: () => {} };

export const MAX_FINDINGS = 1_000;
const MAX_LISTED_FILES = 1_000;
const MAX_REASONS = 10;

/** A finding under construction: everything that is wrong with one object. */
export class FindingDraft {
  readonly object: string;
  severity: Severity;
  readonly #reasons = new Set<string>();
  /** The key generation of the object, if the keyring lacks that generation. */
  lacking: number | undefined;
  readonly #snapshots = new Set<string>();
  readonly #files = new Set<ByteString>();
  #filesTotal = 0;

  constructor(severity: Severity, object: string) {
    this.severity = severity;
    this.object = object;
  }

  because(reason: string): void {
    if (this.#reasons.size <= MAX_REASONS) this.#reasons.add(reason);
  }

  get isAffecting(): boolean {
    return this.#snapshots.size > 0;
  }

  get reasons(): number {
    return this.#reasons.size;
  }

  affects(snapshot: string, path: ByteString | undefined): void {
    this.#snapshots.add(snapshot);
    if (path === undefined) return;
    this.#filesTotal += 1;
    if (this.#files.size < MAX_LISTED_FILES) this.#files.add(path);
  }

  finished(): Finding {
    const reasons = [...this.#reasons];
    const shown = reasons.length > MAX_REASONS ? [...reasons.slice(0, MAX_REASONS), 'and more'] : reasons;
    return {
      severity: this.severity,
      object: this.object,
      what: shown.join('; '),
      snapshots: [...this.#snapshots],
      files: [...this.#files],
      filesTotal: this.#filesTotal,
    };
  }
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 };

/** Collects findings, one per object. */
export class Findings {
  readonly #observer: CheckObserver;
  readonly #drafts = new Map<string, FindingDraft>();

  constructor(observer: CheckObserver) {
    this.#observer = observer;
  }

  add(severity: Severity, object: string, reason: string): FindingDraft {
    const draft = this.#drafts.get(object) ?? new FindingDraft(severity, object);
    this.#drafts.set(object, draft);
    if (RANK[severity] < RANK[draft.severity]) draft.severity = severity;
    draft.because(reason);
    this.#observer.finding(object, reason);
    return draft;
  }

  /** Adds an error about one object. */
  addError(object: string, error: unknown): FindingDraft {
    const isPlanted = error instanceof RepositoryError && error.details['planted'] === true;
    // The report names the object separately.
    const reason = damageOf(error, object);
    if (isPlanted) return this.addPlanted(object, reason);
    const draft = this.add('error', object, reason);
    const generation = error instanceof RepositoryError ? error.details['generation'] : undefined;
    if (typeof generation === 'number') draft.lacking = generation;
    return draft;
  }

  /** Adds an object that the holder of a write-only key has planted and that has no effect. */
  addPlanted(object: string, reason: string): FindingDraft {
    const draft = this.add('warning', object, reason);
    draft.because(
      `somebody with a write-only key put it there, and Holdfast ignores it; "${holdfastThere`recover`}" removes it`,
    );
    return draft;
  }

  /**
   * Downgrades findings about returned objects, which nobody can read and nothing needs (returned-objects.ts), to
   * warnings.
   */
  acceptReturned(isNeedless: (object: string, generation: number) => boolean): void {
    for (const draft of this.#drafts.values()) {
      const { object, severity, lacking, isAffecting, reasons } = draft;
      if (severity !== 'error' || lacking === undefined || isAffecting || reasons > 1) continue;
      if (!isNeedless(object, lacking)) continue;
      draft.severity = 'warning';
      draft.because(
        `that generation was retired when nothing needed it, so this was deleted and has come back; "${holdfastThere`keys rekey`}" and then "${holdfastThere`prune`}" remove it`,
      );
    }
  }

  /**
   * Downgrades findings about damaged packs whose needed content is stored elsewhere: they only wait for prune.
   * @param inUse the packs that hold other chunks that no sound pack has
   */
  acceptReplaced(packs: ReadonlySet<string>, inUse: ReadonlyMap<string, unknown>): void {
    for (const name of packs) {
      const draft = this.#drafts.get(`pack ${name}`);
      if (draft?.severity !== 'error' || draft.isAffecting) continue;
      draft.severity = 'warning';
      draft.because(
        inUse.has(name)
          ? 'another pack has its damaged parts; it is kept as long as a snapshot needs its other parts'
          : 'everything that is needed from it was stored again, and prune will delete it',
      );
    }
  }

  get hasErrors(): boolean {
    return [...this.#drafts.values()].some(({ severity }) => severity === 'error');
  }

  finished(): Pick<CheckReport, 'findings' | 'findingsMore' | 'packsDamaged'> {
    const all = [...this.#drafts.values()].sort((a, b) => RANK[a.severity] - RANK[b.severity]);
    return {
      findings: all.slice(0, MAX_FINDINGS).map((draft) => draft.finished()),
      findingsMore: Math.max(0, all.length - MAX_FINDINGS),
      packsDamaged: new Set(all.map(packWithError).filter((name) => name !== undefined)),
    };
  }
}

function packWithError({ severity, object }: FindingDraft): string | undefined {
  const named = readObjectName(object);
  return severity === 'error' && named?.kind === 'pack' ? named.name : undefined;
}

export type NamedKind = 'pack' | 'tree' | 'snapshot' | 'tombstone' | 'index object' | 'chunk';

const NAME = /^(pack|tree|snapshot|tombstone|index object|chunk) ([0-9a-f]+)$/;

/**
 * Parses the names of objects and chunks in errors, findings and `--json`: `pack 3f…`, or a key such as `keys/ring-1`.
 * Nothing else parses such names. The kind and name; undefined for a key.
 */
export function readObjectName(
  object: string,
): { readonly kind: NamedKind; readonly name: string } | undefined {
  const [, kind, name] = NAME.exec(object) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind: kind as NamedKind, name };
}
