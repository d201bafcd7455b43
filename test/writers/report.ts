/** What a run of many writers tells: a line a minute, a table at the end, and all figures as JSON. */
import type { AgentWriter } from './agent-writer.ts';
import type { Verdict } from './judge.ts';
import type { Ledger } from './ledger.ts';
import { slopeOf, type ProcessSample, type Slope } from './processes.ts';
import type { Garbage } from './stored-garbage.ts';

const MIB = 1_048_576;
/** Of an agent at work, beyond which its memory is said to grow. */
const MOST_MIB_AN_HOUR = 1;
const FILLING_MS = 600_000;

export interface AgentMemory {
  readonly agent: string;
  readonly rss: Slope | undefined;
  readonly fds: Slope | undefined;
  readonly samples: number;
}

/** Of the process of each agent that lived longest, without its first ten minutes: an agent fills its caches first. */
export function memoryOf({ machine, samples }: AgentWriter): AgentMemory {
  const longest = [...samples.values()].sort((a, b) => b.length - a.length)[0] ?? [];
  const fromMs = (longest[0]?.atMs ?? 0) + FILLING_MS;
  const counted = longest.filter(({ atMs }) => atMs >= fromMs);
  const of = (value: (sample: ProcessSample) => number): Slope | undefined =>
    slopeOf(counted.map((sample) => ({ atMs: sample.atMs, value: value(sample) })));
  return {
    agent: machine.name,
    rss: of(({ rssBytes }) => rssBytes / MIB),
    fds: of(({ fds }) => fds),
    samples: counted.length,
  };
}

/** Growth is what the interval leaves no doubt about. */
export function requireFlat({ agent, rss, fds }: AgentMemory, ledger: Ledger): void {
  if (rss !== undefined && rss.perHour - rss.marginPerHour > MOST_MIB_AN_HOUR)
    ledger.violations.push(`${agent}: memory grows by ${shownSlope(rss)} MiB an hour`);
  if (fds !== undefined && fds.perHour - fds.marginPerHour > 1)
    ledger.violations.push(`${agent}: open files grow by ${shownSlope(fds)} an hour`);
}

function shownSlope({ perHour, marginPerHour }: Slope): string {
  return `${perHour.toFixed(2)} ± ${marginPerHour.toFixed(2)}`;
}

export function minuteLine(
  minute: number,
  ledger: Ledger,
  agents: readonly AgentWriter[],
  packs: number,
): string {
  const prunes = ledger.upkeep.filter(({ what }) => what === 'prune');
  const rss = agents.map(({ samples }) => {
    const newest = [...samples.values()].at(-1)?.at(-1);
    return newest === undefined ? '-' : (newest.rssBytes / MIB).toFixed(0);
  });
  const ended = (end: string): number => prunes.filter((run) => run.end === end).length;
  const removed = prunes.reduce((sum, { removedPacks }) => sum + removedPacks, 0);
  return [
    `minute ${minute}:`,
    `${ledger.count('completed')} backups, ${ledger.count('killed')} killed, ${ledger.count('failed')} failed;`,
    `${ended('ok')} prunes, ${ended('locked')} locked, ${removed} packs removed, ${packs} there;`,
    `agents ${rss.join(' ')} MiB; violations ${ledger.violations.length}`,
  ].join(' ');
}

export interface Outcome {
  readonly settings: object;
  readonly minutesRun: number;
  readonly settledMs: number;
  readonly verdict: Verdict;
  readonly atEnd: Garbage;
  readonly settled: Garbage;
  readonly memory: readonly AgentMemory[];
  readonly ledger: Ledger;
}

export function table(outcome: Outcome): string {
  const { ledger, verdict, memory, atEnd, settled } = outcome;
  const runs = (what: string, end: string): number =>
    ledger.upkeep.filter((run) => run.what === what && run.end === end).length;
  const upkeep = (what: string): string =>
    ['ok', 'locked', 'killed', 'excused', 'failed'].map((end) => `${runs(what, end)} ${end}`).join(', ');
  const oldest = (orphans: Garbage['packs']): string =>
    `${orphans.length} (oldest ${Math.round(Math.max(0, ...orphans.map(({ ageMs }) => ageMs)) / 1_000)} s)`;
  const rows: (readonly [string, string])[] = [
    [
      'minutes',
      `${outcome.minutesRun.toFixed(1)}, then ${Math.round(outcome.settledMs / 1_000)} s of prunes alone`,
    ],
    [
      'backups',
      `${ledger.count('completed')} completed, ${ledger.count('killed')} killed, ${ledger.count('failed')} failed`,
    ],
    ['disturbed', [...ledger.hits].map(([kind, times]) => `${kind} ${times}`).join(', ')],
    [
      'prune',
      `${upkeep('prune')}; ${ledger.upkeep.reduce((sum, run) => sum + run.removedPacks, 0)} packs removed`,
    ],
    ['forget', upkeep('forget')],
    ['check beside', upkeep('check')],
    [
      'snapshots',
      `${verdict.live} live, ${verdict.restored} restored byte for byte, ${verdict.unreported} of killed backups`,
    ],
    ['read independently', `${verdict.files} files, ${(verdict.bytes / MIB).toFixed(0)} MiB`],
    [
      'orphans under load',
      `packs ${oldest(atEnd.packs)}, forgotten ${oldest(atEnd.forgottenSnapshots)}, indexes ${oldest(atEnd.supersededIndexes)}, leases ${oldest(atEnd.leases)}`,
    ],
    [
      'orphans at the end',
      `packs ${oldest(settled.packs)}, forgotten ${oldest(settled.forgottenSnapshots)}, indexes ${oldest(settled.supersededIndexes)}, leases ${oldest(settled.leases)}, unfinished files ${settled.leftovers}`,
    ],
    ...memory.map(({ agent, rss, fds }): readonly [string, string] => [
      `${agent} (agent)`,
      rss === undefined || fds === undefined
        ? 'too short to say'
        : `${rss.first.toFixed(0)} to ${rss.last.toFixed(0)} MiB, ${shownSlope(rss)} MiB an hour over ${(rss.hours * 60).toFixed(0)} min; files ${fds.first.toFixed(0)} to ${fds.last.toFixed(0)}`,
    ]),
    ['violations', String(ledger.violations.length)],
  ];
  return rows.map(([name, value]) => `${name.padEnd(20)} ${value}`).join('\n');
}

/** Without the manifests, which fill hundreds of megabytes. */
export function figures({ ledger, ...outcome }: Outcome): object {
  return {
    ...outcome,
    attempts: ledger.attempts.map(({ manifest, ...attempt }) => ({ ...attempt, entries: manifest.length })),
    upkeep: ledger.upkeep,
    hits: Object.fromEntries(ledger.hits),
    violations: ledger.violations,
  };
}
