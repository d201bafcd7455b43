/** The names of destinations in what the agent tells of its status, as people see them. */
import { shownBeside } from '../../config/embedded-repository.ts';
import type { FullStatus } from '../../jobs/agent.ts';

export function shownName(name: string, all: FullStatus['destinations']): string {
  return shownBeside(
    name,
    all.filter(({ embedded }) => !embedded),
  );
}

/** A status whose statements name destinations as people see them. */
export function withShownNames(status: FullStatus): FullStatus {
  const shown = (name: string): string => shownName(name, status.destinations);
  return { ...status, statements: status.statements.map((one) => ({ ...one, to: one.to.map(shown) })) };
}
