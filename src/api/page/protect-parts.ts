/** What the agent does for the pages on which somebody chooses what to protect and where to. */
import type { Static } from '../../base/schema-type.ts';
import type { FilledConfig } from '../../config/schema.ts';
import type {
  Destinations,
  DestinationTest,
  Directories,
  Estimate,
  RecoveryKit,
  SecretReference,
  Suggestions,
} from '../schemas/page/protect.ts';
import type { IsFresh } from '../access/secret-guard.ts';

/** With every default, as the settings would have them. */
export type FilledDestination = FilledConfig['destinations'][string];
export type FilledExclude = FilledConfig['sources'][number]['exclude'];

export interface EstimateWish {
  /** Absolute, or from `~` on. */
  readonly path: string;
  readonly exclude: FilledExclude;
  /** Seconds. */
  readonly within: number;
}

/** One of the settings, or one that is not saved yet. */
export type DestinationWish = (
  | { readonly name: string; readonly destination?: undefined }
  | { readonly name: string; readonly destination: FilledDestination }
) & {
  /** Paths that are to be backed up there, beside those that are already. */
  readonly files?: readonly string[] | undefined;
};

export type PassphraseAnswer =
  | { readonly opens: boolean }
  /** Too many were wrong. */
  | { readonly retryAfterMs: number };

export interface ProtectParts {
  suggestions(): Promise<Suggestions>;
  /** @throws {RequestError} INVALID_SOURCE */
  directories(path: string | undefined, signal: AbortSignal): Promise<Directories>;
  /** @throws {SourceError} INVALID_SOURCE; {RequestError} for a rule that cannot be meant */
  estimate(wish: EstimateWish, signal: AbortSignal): Promise<Estimate>;
  destinations(): Promise<Destinations>;
  /** @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL */
  testDestination(wish: DestinationWish, signal: AbortSignal): Promise<DestinationTest>;
  /** @throws {StateError} */
  keepSecret(secret: string): Promise<Static<typeof SecretReference>>;
  readonly isFreshSecret: IsFresh;
  recoveryKit(): Promise<RecoveryKit>;
  /** Undefined when it is not on this machine. */
  recoveryKitText(): Promise<string | undefined>;
  confirmRecoveryKit(): Promise<RecoveryKit>;
  /** @throws {RequestError} INVALID_DESTINATION; {RepositoryError} */
  checkPassphrase(destination: string, secret: string, signal: AbortSignal): Promise<PassphraseAnswer>;
}
