/** The recovery kit while it is on this machine, and the person's confirmation that it is stored elsewhere. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileIfPresent, removeFileDurably } from '../../base/atomic-file.ts';
import type { Clock } from '../../base/clock.ts';
import { causeText } from '../../base/errno-words.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import type { SettingStore } from '../../db/settings.ts';
import { keepRecoveryCode } from '../places/kit-secrets.ts';

export interface KitState {
  /** `unsaved`: it is on this machine; `saved`: somebody confirmed that it is stored elsewhere; `none`: neither. */
  readonly state: 'unsaved' | 'saved' | 'none';
  /** Milliseconds since 1970. */
  readonly madeAt: number | null;
  readonly savedAt: number | null;
}

export interface RecoveryKitParts {
  readonly stateDirectory: string;
  readonly settings: Pick<SettingStore, 'get' | 'set'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The note in the state that somebody has put the kit away. */
export const KIT_SAVED = 'recovery kit saved';

export class RecoveryKitKeeper {
  readonly #parts: RecoveryKitParts;
  readonly #file: string;

  constructor(parts: RecoveryKitParts) {
    this.#parts = parts;
    this.#file = join(parts.stateDirectory, 'recovery-kit.txt');
  }

  /** @throws {StateError} */
  async state(): Promise<KitState> {
    const madeAt = await this.#madeAt();
    if (madeAt !== undefined) return { state: 'unsaved', madeAt, savedAt: null };
    const saved = this.#saved();
    return saved === undefined
      ? { state: 'none', madeAt: null, savedAt: null }
      : { state: 'saved', madeAt: saved.made_at, savedAt: saved.saved_at };
  }

  /** Undefined when it is not on this machine. @throws {StateError} */
  async text(): Promise<string | undefined> {
    return (await readFileIfPresent(this.#file))?.toString();
  }

  /** Removes the kit from this machine. An earlier confirmation stays as it is. @throws {StateError} */
  async confirm(): Promise<KitState> {
    const madeAt = await this.#madeAt();
    if (madeAt !== undefined) {
      const saved: Saved = { made_at: madeAt, saved_at: this.#parts.clock.now() };
      // The note comes first: a kit that is gone without a note would look as if there had never been one.
      this.#parts.settings.set(KIT_SAVED, JSON.stringify(saved));
      await keepRecoveryCode(this.#parts.stateDirectory);
      await removeFileDurably(this.#file);
    }
    return await this.state();
  }

  #saved(): Saved | undefined {
    const text = this.#parts.settings.get(KIT_SAVED);
    return text === undefined ? undefined : (JSON.parse(text) as Saved);
  }

  async #madeAt(): Promise<number | undefined> {
    try {
      return Math.round((await stat(this.#file)).mtimeMs);
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return undefined;
      throw new StateError('READ_ERROR', `Cannot check ${this.#file}: ${causeText(cause)}`, {
        hint: 'Check that it belongs to the user that the agent runs as.',
        cause,
      });
    }
  }
}

interface Saved {
  readonly made_at: number;
  readonly saved_at: number;
}
