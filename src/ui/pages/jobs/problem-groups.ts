/** Groups problems of single files by their kind, the most frequent first. */
import type { JobLog } from '../../../api/schemas/job.ts';

export type FileProblem = JobLog['problems'][number];

export interface ProblemGroup {
  readonly code: string;
  readonly problems: readonly FileProblem[];
}

export function groupProblems(problems: readonly FileProblem[]): readonly ProblemGroup[] {
  const groups = Map.groupBy(problems, ({ code }) => code);
  return [...groups]
    .map(([code, ofCode]) => ({ code, problems: ofCode }))
    .toSorted((a, b) => b.problems.length - a.problems.length || a.code.localeCompare(b.code));
}
