/** The one error of the client: what a service answers, a job that did not complete, or no answer at all. */

/** Codes that no service gives. All others are in the list of error codes of the interface. */
export type ClientCode =
  /** Nobody answers at the address, or the connection broke off. */
  | 'CONNECTION_FAILED'
  /** What answers is not Holdfast. */
  | 'UNEXPECTED_REPLY'
  /** The job that was waited for was canceled. */
  | 'JOB_CANCELED'
  /** The message to a webhook was not signed with this secret. */
  | 'INVALID_SIGNATURE'
  /** The message to a webhook is older or newer than is allowed, or says not when it was sent. */
  | 'INVALID_TIMESTAMP';

export interface ErrorFacts {
  readonly code: string;
  /** What happened, then what to do. */
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

export class HoldfastError extends Error {
  override readonly name: string = 'HoldfastError';
  /** In upper snake case. Decide by this; sentences may change. */
  readonly code: string;
  /** What belongs to the code; empty when nothing does. */
  readonly details: Readonly<Record<string, unknown>>;
  /** HTTP status; undefined when there was no reply, and for jobs. */
  readonly status: number | undefined;
  /** Of the request that was refused: the log of the service has the same. */
  readonly requestId: string | undefined;
  /** After how many seconds the service takes the request, when it says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.details = facts.details ?? {};
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}
