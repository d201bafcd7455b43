/** The port that nobody chose: the agent of another person may have it, and no backup may fail for that. */
import { StateError } from '../base/errors.ts';
import type { Listening } from '../api/connections/listening.ts';

/** The one of the contract and of every document. */
export const USUAL_PORT = 7390;
/** Behind it. */
const OTHERS = 9;

export interface ChosenPort {
  /** On the command line. */
  readonly typed: number | undefined;
  /** In the settings, where the usual one is nobody's choice. */
  readonly set: number;
}

/**
 * Listens on the port that was chosen, else on the usual one or the next one that is free, which is said in the notes.
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
