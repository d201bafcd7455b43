/** The names of destinations in what the agent tells of its status, as people see them. */
import { DEFAULT_DESTINATION, EMBEDDED_DESTINATION } from '../../config/effective-settings.ts';
import type { FullStatus } from '../../jobs/agent.ts';

/** The name of a destination as shown to people: that of the embedded repository, unless another destination uses it. */
export function shownName(name: string, all: FullStatus['destinations']): string {
  if (name !== DEFAULT_DESTINATION) return name;
  const names = [DEFAULT_DESTINATION, EMBEDDED_DESTINATION];
  return all.some((one) => !one.embedded && names.includes(one.name)) ? name : EMBEDDED_DESTINATION;
}

/** A status whose statements name destinations as people see them. */
export function withShownNames(status: FullStatus): FullStatus {
  const shown = (name: string): string => shownName(name, status.destinations);
  return { ...status, statements: status.statements.map((one) => ({ ...one, to: one.to.map(shown) })) };
}
