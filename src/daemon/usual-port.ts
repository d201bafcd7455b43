/**
 * Chooses the port when nobody has configured one. Another user's agent may have the default port, which must not keep
 * this one from running.
 */
import { StateError } from '../base/errors.ts';
import type { Listening } from '../api/connections/listening.ts';

/** The default port, as in the API contract and the documentation. */
export const USUAL_PORT = 7390;
/** Number of further ports that are tried. */
const OTHERS = 9;

export interface ChosenPort {
  /** From the command line. */
  readonly typed: number | undefined;
  /** From the settings. The default port counts as not chosen, as it is also there when nobody has set one. */
  readonly set: number;
}

/**
 * Listens on the chosen port; otherwise on the default port or the next free one, which the notes mention.
 * @throws {StateError} PORT_TAKEN, PORT_NOT_ALLOWED
 */
export async function listenAsChosen(
  { typed, set }: ChosenPort,
  listen: (port: number) => Promise<Listening>,
): Promise<Listening> {
  const chosen = typed ?? set;
  if (typed !== undefined || chosen !== USUAL_PORT) return await listen(chosen);
  for (let port = USUAL_PORT; ; port += 1) {
    try {
      const listening = await listen(port);
      if (port === USUAL_PORT) return listening;
      const note = `Another program, perhaps the agent of somebody else, listens on port ${USUAL_PORT}: this agent listens on ${port}.`;
      return { ...listening, notes: [...listening.notes, note] };
    } catch (error) {
      const isTaken = error instanceof StateError && error.code === 'PORT_TAKEN';
      if (!isTaken || port === USUAL_PORT + OTHERS) throw error;
    }
  }
}
