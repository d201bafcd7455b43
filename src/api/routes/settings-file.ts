import type { ConfigChange } from '../../config/config-edit.ts';
import type { PresentSettings } from '../../config/replacement.ts';

/** The configuration file, as it is in force. */
export interface SettingsFile {
  /** Undefined while there is no file and defaults are in force. */
  readonly document: (PresentSettings & { readonly revision: string }) | undefined;
  /**
   * Changes the file and puts it in force.
   * @throws {RequestError} REVISION_MISMATCH, or what is wrong with the change
   * @throws {ConfigError} when the file is broken and must be put right first
   * @throws {StateError} when it cannot be written
   */
  edit(
    changes: readonly ConfigChange[],
    expectedRevision: string | undefined,
    signal: AbortSignal,
  ): Promise<unknown>;
  /** Throws what `edit` would throw of the change and of the file, and changes nothing. */
  check(changes: readonly ConfigChange[], expectedRevision: string | undefined): Promise<void>;
}
