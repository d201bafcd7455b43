/** Free space for the agent's own state. Without any it can store nothing, and backups stop. */
import { freeBytesOf } from '../places/free-space.ts';

export interface StateRoomParts {
  readonly stateDirectory: string;
  /** Overrides what the system says. */
  readonly freeBytes?: ((directory: string) => Promise<number | null>) | undefined;
  readonly trouble: (error: unknown) => void;
}

/** Bytes: less than this may be used up in one busy day. */
const SCARCE = 200_000_000;

export class StateRoom {
  readonly #parts: StateRoomParts;
  #bytes: number | null = null;

  constructor(parts: StateRoomParts) {
    this.#parts = parts;
  }

  /** To be called periodically. Never throws. */
  look(): void {
    const { stateDirectory, freeBytes = freeBytesOf, trouble } = this.#parts;
    freeBytes(stateDirectory).then((bytes) => void (this.#bytes = bytes), trouble);
  }

  /** Free bytes if they are few; null while there are enough, or when that is unknown. */
  readonly scarceBytes = (): number | null =>
    this.#bytes !== null && this.#bytes < SCARCE ? this.#bytes : null;
}
