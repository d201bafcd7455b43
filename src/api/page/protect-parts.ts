/** What the agent provides for the pages on which users choose what to protect and where to store it. */
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

/** As in the settings, with all defaults filled in. */
export type FilledDestination = FilledConfig['destinations'][string];
export type FilledExclude = FilledConfig['sources'][number]['exclude'];

export interface EstimateWish {
  /** Absolute, or beginning with `~`. */
  readonly path: string;
  readonly exclude: FilledExclude;
  /** Time limit in seconds. */
  readonly within: number;
}

/** A destination of the settings, or one that is not saved yet. */
export type DestinationWish = (
  | { readonly name: string; readonly destination?: undefined }
  | { readonly name: string; readonly destination: FilledDestination }
) & {
  /** Paths to be backed up there in addition to the existing sources. */
  readonly files?: readonly string[] | undefined;
};

export type PassphraseAnswer =
  | { readonly opens: boolean }
  /** There were too many wrong passphrases. */
  | { readonly retryAfterMs: number };

export interface ProtectParts {
  suggestions(): Promise<Suggestions>;
  /** @throws {RequestError} INVALID_SOURCE */
  directories(path: string | undefined, signal: AbortSignal): Promise<Directories>;
  /** @throws {SourceError} INVALID_SOURCE; {RequestError} for an exclude rule that is not valid */
  estimate(wish: EstimateWish, signal: AbortSignal): Promise<Estimate>;
  destinations(): Promise<Destinations>;
  /** @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL */
  testDestination(wish: DestinationWish, signal: AbortSignal): Promise<DestinationTest>;
  /** @throws {StateError} */
  keepSecret(secret: string): Promise<Static<typeof SecretReference>>;
  readonly isFreshSecret: IsFresh;
  recoveryKit(): Promise<RecoveryKit>;
  /** Undefined when the kit is not on this machine. */
  recoveryKitText(): Promise<string | undefined>;
  confirmRecoveryKit(): Promise<RecoveryKit>;
  /** @throws {RequestError} INVALID_DESTINATION; {RepositoryError} */
  checkPassphrase(destination: string, secret: string, signal: AbortSignal): Promise<PassphraseAnswer>;
}
