/** What came of a run, for people. */
import { excuseOf } from './excused.ts';
import { kindsOf, type Finding, type Seen } from './findings.ts';
import { PHASES } from './trial.ts';

export interface Report {
  readonly text: string;
  /** Findings without an excuse. */
  readonly faults: number;
}

export function reportOf(name: string, { findings, calls, statuses }: Seen): Report {
  const open = findings.filter((finding) => excuseOf(finding) === undefined);
  const excused = Map.groupBy(
    findings.filter((finding) => excuseOf(finding) !== undefined),
    (finding) => excuseOf(finding)?.reason ?? '',
  );
  const phases = PHASES.map((phase) => {
    const inPhase = (list: readonly Finding[]): number => list.filter((one) => one.phase === phase).length;
    return `  ${phase}: ${calls.get(phase) ?? 0} calls, ${inPhase(open)} findings, ${inPhase(findings) - inPhase(open)} excused`;
  });
  const replies = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  const kinds = kindsOf(open).flatMap(({ name: kind, findings: list }) => [
    '',
    `${list.length} x ${kind}`,
    `  ${[...new Set(list.map(({ operation }) => operation))].join(', ')}`,
    ...list
      .slice(0, 1)
      .flatMap(({ about, exchange }) => [`  ${about.trim().replaceAll('\n', '\n  ')}`, `  ${exchange}`]),
  ]);
  const lines = [
    `${name}.yaml`,
    ...phases,
    `  replies: ${replies.join(', ')}`,
    ...kinds,
    '',
    ...[...excused].map(([reason, list]) => `excused, ${list.length} x: ${reason}`),
  ];
  return { text: `${lines.join('\n')}\n`, faults: open.length };
}
