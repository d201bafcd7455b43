/** How much room there is for the agent's own state: without any it can note nothing, and backups stop. */
import { freeBytesOf } from '../places/free-space.ts';

export interface StateRoomParts {
  readonly stateDirectory: string;
  /** Instead of what the system says. */
  readonly freeBytes?: ((directory: string) => Promise<number | null>) | undefined;
  readonly trouble: (error: unknown) => void;
}

/** Bytes: less than that is gone in a day of much work. */
const SCARCE = 200_000_000;

export class StateRoom {
  readonly #parts: StateRoomParts;
  #bytes: number | null = null;

  constructor(parts: StateRoomParts) {
    this.#parts = parts;
  }

  /** To be called now and then. Never throws. */
  look(): void {
    const { stateDirectory, freeBytes = freeBytesOf, trouble } = this.#parts;
    freeBytes(stateDirectory).then((bytes) => void (this.#bytes = bytes), trouble);
  }

  /** Null while there is enough, or nobody knows. */
  readonly scarceBytes = (): number | null =>
    this.#bytes !== null && this.#bytes < SCARCE ? this.#bytes : null;
}
