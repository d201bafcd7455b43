/**
 * Keeps the Partner service informed for as long as the device is enrolled: reports when there is something to tell and as
 * a sign of life, and a plan that is fresh. Whatever the service does, nothing else of the agent waits for it.
 */
import { isAbort } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { NumberedReport, PartnerReportStore, ReportContents } from '../db/partner-reports.ts';
import { fieldOf, type PartnerRequest } from './ask-partner.ts';
import { Backoff, isUnknownDevice, spread } from './backoff.ts';
import { invalidReply, PartnerError } from './partner-error.ts';
import { refreshAt } from './plan.ts';
import type { PlanDocument } from './signed.ts';

/** Milliseconds. */
const LIMITS = Object.freeze({
  /** Between two reports: a plan that was changed is here within a minute. */
  pause: 45_000,
  /** A machine that starts reports within this time, so that many of them do not do so together. */
  firstSignOfLife: 30_000,
  /** Between signs of life, whatever the plan says. */
  longestSilence: 86_400_000,
  /** While there is no plan to go by. */
  silence: 3_600_000,
  /** What may remain of a nap after the machine slept. */
  nap: 60_000,
});
/** A report that the service does not understand is given up after so many tries: others wait behind it. */
const MOST_REFUSALS = 5;

export interface ReporterParts {
  readonly clock: Clock;
  readonly store: PartnerReportStore;
  readonly ask: (request: Omit<PartnerRequest, 'version'>, signal: AbortSignal) => Promise<unknown>;
  readonly plan: () => PlanDocument | undefined;
  /** Takes what `GET /devices/self/plan` gave. @throws {PartnerError} when it is not a plan that counts */
  readonly takePlan: (reply: unknown) => Promise<void>;
  readonly takeOrders: (orders: readonly unknown[]) => Promise<void>;
  /** Gathers what the next report says; gives what writes it. */
  readonly prepare: () => Promise<(contents: ReportContents) => string>;
  /** Told of the receipt of a report, as the service sent it. */
  readonly answered: (report: NumberedReport, receipt: unknown) => void;
  /** The service has reports of this device that it does not remember: what was told once is to be told again. */
  readonly setBack: () => void;
  /** Told of the first failure in a row, and of the success after it (null). */
  readonly trouble: (error: unknown) => void;
  /** A report was given up, and that many results with it. */
  readonly gaveUp: (results: number, error: unknown) => void;
}

export class Reporter {
  readonly #parts: ReporterParts;
  readonly #reports: Backoff;
  readonly #plans: Backoff;
  readonly #end = new AbortController();
  #nap = new AbortController();
  #running: Promise<void> | undefined;
  /** Wall clock. */
  #lastReportAt: number | null = null;
  /** Monotonic clock. */
  #firstReportAt = 0;
  #planFetchedAt = -LIMITS.pause;
  #asked = false;
  /** The service has another one than is here. */
  #planOutdated = false;
  #lastError: PartnerError | null = null;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
    this.#reports = new Backoff(parts.clock);
    this.#plans = new Backoff(parts.clock);
  }

  start(): void {
    this.#firstReportAt = this.#parts.clock.monotonic() + spread(0, LIMITS.firstSignOfLife);
    this.#running ??= this.#run();
  }

  /** There may be something to tell. */
  look(): void {
    this.#nap.abort();
  }

  /** A report is wanted, also when there is nothing to tell. */
  reportSoon(): void {
    this.#asked = true;
    this.look();
  }

  /** Milliseconds since 1970; null before the first one of this process. */
  get lastReportAt(): number | null {
    return this.#lastReportAt;
  }

  /** Of the last report; null once one has arrived since. */
  get lastError(): PartnerError | null {
    return this.#lastError;
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#nap.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      this.#nap = new AbortController();
      try {
        const planMs = this.#untilPlan();
        const reportMs = this.#untilReport();
        if (planMs === 0) await this.#attempt(this.#plans, async () => await this.#fetchPlan(signal));
        else if (reportMs === 0) await this.#attempt(this.#reports, async () => await this.#report(signal));
        else await this.#parts.clock.sleep(Math.min(LIMITS.nap, planMs, reportMs), this.#nap.signal);
      } catch (error) {
        // Otherwise it was woken, or ended.
        if (!isAbort(error) && !signal.aborted) await this.#rest(error, signal);
      }
    }
  }

  /** The state database could not be read: it is looked at again after a while. */
  async #rest(error: unknown, signal: AbortSignal): Promise<void> {
    this.#parts.trouble(error);
    try {
      await this.#parts.clock.sleep(LIMITS.nap, signal);
    } catch (ended) {
      if (!isAbort(ended)) throw ended;
    }
  }

  /** Milliseconds. */
  #untilPlan(): number {
    const { clock, plan } = this.#parts;
    const known = plan();
    const dueMs = known === undefined || this.#planOutdated ? 0 : refreshAt(known) - clock.now();
    const pauseMs = this.#planFetchedAt + LIMITS.pause - clock.monotonic();
    return Math.max(0, dueMs, pauseMs, this.#plans.waitMs);
  }

  /** Milliseconds. */
  #untilReport(): number {
    const { clock, store, plan } = this.#parts;
    const waitMs = this.#reports.waitMs;
    if (waitMs > 0 || store.unanswered() !== undefined) return waitMs;
    const hasNews = this.#asked || store.waiting() > 0 || store.untoldOrders().length > 0;
    if (this.#lastReportAt === null)
      return hasNews ? 0 : Math.max(0, this.#firstReportAt - clock.monotonic());
    const sinceMs = clock.now() - this.#lastReportAt;
    // The clock was set back.
    if (sinceMs < 0) return 0;
    const known = plan();
    const silenceMs = known === undefined ? LIMITS.silence : known.expected_reports_seconds * 1000;
    const pauseMs = hasNews
      ? LIMITS.pause
      : Math.min(LIMITS.longestSilence, Math.max(LIMITS.pause, silenceMs));
    return Math.max(0, pauseMs - sinceMs);
  }

  async #attempt(backoff: Backoff, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      backoff.succeeded();
    } catch (error) {
      if (this.#end.signal.aborted) throw error;
      backoff.failed(error);
      // Said once for each row of failures.
      if (backoff.failures === 1) this.#parts.trouble(error);
      if (isUnknownDevice(error) && error instanceof PartnerError) this.#lastError = error;
    }
  }

  async #fetchPlan(signal: AbortSignal): Promise<void> {
    const { ask, takePlan, clock } = this.#parts;
    await takePlan(await ask({ method: 'GET', route: '/devices/self/plan' }, signal));
    this.#planFetchedAt = clock.monotonic();
    this.#planOutdated = false;
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { clock, store, prepare, ask, answered } = this.#parts;
    const report = store.unanswered() ?? store.make(await prepare());
    let receipt: unknown;
    try {
      receipt = await ask({ method: 'POST', route: '/devices/self/reports', body: report.body }, signal);
      if (fieldOf(receipt, 'seq') !== report.seq) throw invalidReply('The receipt of a report');
    } catch (error) {
      if (error instanceof PartnerError) {
        this.#lastError = error;
        this.#giveUpIfHopeless(report, error);
      }
      throw error;
    }
    this.#goOnWhereItWas(report, receipt);
    store.settle(report, takenIn(report));
    this.#lastReportAt = clock.now();
    this.#lastError = null;
    this.#asked = false;
    answered(report, receipt);
    await this.#follow(receipt);
  }

  /** @throws {PartnerError} when the report was not counted: it waits under another number then */
  #goOnWhereItWas(report: NumberedReport, receipt: unknown): void {
    const { store, setBack } = this.#parts;
    const isTaken = fieldOf(receipt, 'number_taken') === true;
    const highest = fieldOf(receipt, 'highest_seq');
    if (!isHighest(highest) || highest < report.seq || (highest === report.seq && !isTaken)) return;
    store.goOnAfter(highest, isTaken ? report : undefined);
    setBack();
    if (!isTaken) return;
    throw new PartnerError(
      'PARTNER_REPLY_INVALID',
      'The Partner service has another report under this number',
      {
        hint: 'The state of this machine was set back: it is sent again under a new number.',
        retry: 'later',
      },
    );
  }

  /** Only an answer of the interface itself says that a report is wrong: a proxy in between may answer anything. */
  #giveUpIfHopeless(report: NumberedReport, error: PartnerError): void {
    const isRefused = [400, 413, 422].includes(error.status ?? 0) && error.reason !== undefined;
    if (!isRefused || this.#reports.failures + 1 < MOST_REFUSALS) return;
    this.#parts.gaveUp(this.#parts.store.giveUp(report), error);
  }

  /** What the service says in reply. */
  async #follow(receipt: unknown): Promise<void> {
    const { plan, takeOrders } = this.#parts;
    const revision = fieldOf(receipt, 'plan_revision');
    this.#planOutdated = typeof revision === 'string' && revision !== plan()?.revision;
    const orders = fieldOf(receipt, 'orders');
    if (Array.isArray(orders)) await takeOrders(orders);
  }
}

/** Far above what any device comes to, and low enough to go on from there. */
const MOST_REPORTS = 2 ** 48;

function isHighest(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MOST_REPORTS;
}

function takenIn({ body }: NumberedReport): readonly string[] {
  const taken = fieldOf(JSON.parse(body), 'orders_taken');
  return Array.isArray(taken) ? taken.filter((jti) => typeof jti === 'string') : [];
}
