/** What runs have found, in the cache: a run that is ended early, or tries some parts alone, leaves what it has counted. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemCache } from './host.ts';

export interface CutRecord {
  readonly seed: number;
  readonly filesystem: string;
  readonly kind: string;
  readonly counted: boolean;
  /** KiB of a repository, or reports that were answered. */
  readonly changed: number;
  readonly violations: readonly string[];
}

export interface PartRecord {
  readonly part: string;
  readonly day: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly checks: number;
  readonly figures: Readonly<Record<string, number | string>>;
}

export class KeptFigures {
  readonly #cuts: string;
  readonly #parts: string;

  /** @param deb the package that is tried: another one begins anew */
  constructor(deb: string) {
    const build = createHash('sha256').update(readFileSync(deb)).digest('hex').slice(0, 12);
    this.#cuts = path.join(systemCache(), `figures-${build}-cuts.jsonl`);
    this.#parts = path.join(systemCache(), `figures-${build}-parts.json`);
  }

  addCut(record: CutRecord): void {
    appendFileSync(this.#cuts, `${JSON.stringify(record)}\n`);
  }

  get cuts(): readonly CutRecord[] {
    if (!existsSync(this.#cuts)) return [];
    const lines = readFileSync(this.#cuts, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as CutRecord);
  }

  addPart(record: PartRecord): void {
    const others = this.parts.filter(({ part }) => part !== record.part);
    writeFileSync(this.#parts, JSON.stringify([...others, record], undefined, 1));
  }

  get parts(): readonly PartRecord[] {
    return existsSync(this.#parts)
      ? (JSON.parse(readFileSync(this.#parts, 'utf8')) as readonly PartRecord[])
      : [];
  }

  /** All runs of this package, in lines for people. */
  tell(): string {
    const parts = this.parts.map(
      ({ part, day, passed, checks, seconds }) =>
        `  ${passed ? 'passed' : 'FAILED'}  ${part}: ${checks} checks, ${seconds} s, ${day}`,
    );
    return ['all runs of this package:', ...parts, ...tellCuts(this.cuts)].join('\n');
  }
}

/** Counted cuts by kind and file system. */
export function tellCuts(cuts: readonly CutRecord[]): readonly string[] {
  const counted = cuts.filter((cut) => cut.counted);
  const violations = cuts.reduce((all, cut) => all + cut.violations.length, 0);
  const sums = Map.groupBy(counted, ({ kind }) => kind);
  return [
    `  cuts that counted: ${counted.length} of ${cuts.length}, violations: ${violations}`,
    ...[...sums].map(([kind, of]) => {
      const by = [...Map.groupBy(of, ({ filesystem }) => filesystem)];
      return `    ${kind}: ${of.length} (${by.map(([name, those]) => `${name} ${those.length}`).join(', ')})`;
    }),
  ];
}
