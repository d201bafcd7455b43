/**
 * Keeps the Partner service informed while the device is enrolled: sends reports when there is news and as a sign of
 * life, and keeps the plan fresh. No other part of the agent waits for it, whatever the service does.
 */
import { isAbort } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { NumberedReport, PartnerReportStore, ReportContents } from '../db/partner-reports.ts';
import { fieldOf, invalidReply, PartnerError, type PartnerRequest } from './ask-partner.ts';
import { Backoff, isUnknownDevice, spread } from './backoff.ts';
import { refreshAt } from './plan.ts';
import type { PlanDocument } from './signed.ts';

/** Milliseconds. */
const LIMITS = Object.freeze({
  /** Between two reports. It lets a changed plan arrive within a minute. */
  pause: 45_000,
  /** Limits the random delay of the first report, so that many machines do not report at the same moment. */
  firstSignOfLife: 30_000,
  /** Longest time between signs of life, whatever the plan says. */
  longestSilence: 86_400_000,
  /** Time between signs of life without a plan. */
  silence: 3_600_000,
  /** Longest single sleep, as timers do not advance while the machine sleeps. */
  nap: 60_000,
});
/** Tries after which a report that the service does not understand is given up, as others wait behind it. */
const MOST_REFUSALS = 5;

export interface ReporterParts {
  readonly clock: Clock;
  readonly store: PartnerReportStore;
  readonly ask: (request: Omit<PartnerRequest, 'version'>, signal: AbortSignal) => Promise<unknown>;
  readonly plan: () => PlanDocument | undefined;
  /** Stores the reply to `GET /devices/self/plan`. @throws {PartnerError} when it is not a valid plan */
  readonly takePlan: (reply: unknown) => Promise<void>;
  readonly takeOrders: (orders: readonly unknown[]) => Promise<void>;
  /** Gathers the content of the next report; resolves with a function that writes it. */
  readonly prepare: () => Promise<(contents: ReportContents) => string>;
  /** Called with the receipt of a report, as the service sent it. */
  readonly answered: (report: NumberedReport, receipt: unknown) => void;
  /** Called when the service has reports that this device does not remember: everything must be reported again. */
  readonly setBack: () => void;
  /** Called with the first of several failures in a row, and whenever the state database cannot be read. */
  readonly trouble: (error: unknown) => void;
  /** Called when a report was given up, with the number of results that were lost with it. */
  readonly gaveUp: (results: number, error: unknown) => void;
}

export class Reporter {
  readonly #parts: ReporterParts;
  readonly #reports: Backoff;
  readonly #plans: Backoff;
  readonly #end = new AbortController();
  #nap = new AbortController();
  #running: Promise<void> | undefined;
  /** By the wall clock. */
  #lastReportAt: number | null = null;
  /** By the monotonic clock, as is the next field. */
  #firstReportAt = 0;
  #planFetchedAt = -LIMITS.pause;
  #asked = false;
  /** The service has a newer plan than this device. */
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

  /** Checks whether there is something to report. */
  look(): void {
    this.#nap.abort();
  }

  /** Sends a report soon, even without news. */
  reportSoon(): void {
    this.#asked = true;
    this.look();
  }

  /** Milliseconds since 1970; null before the first report of this process. */
  get lastReportAt(): number | null {
    return this.#lastReportAt;
  }

  /** The error of the last report; null once a report has arrived since. */
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
        // An abort means that it was woken or closed.
        if (!isAbort(error) && !signal.aborted) await this.#rest(error, signal);
      }
    }
  }

  /** Waits before the state database, which could not be read, is tried again. */
  async #rest(error: unknown, signal: AbortSignal): Promise<void> {
    this.#parts.trouble(error);
    try {
      await this.#parts.clock.sleep(LIMITS.nap, signal);
    } catch (ended) {
      if (!isAbort(ended)) throw ended;
    }
  }

  /** Milliseconds until the plan is to be fetched. */
  #untilPlan(): number {
    const { clock, plan } = this.#parts;
    const known = plan();
    const dueMs = known === undefined || this.#planOutdated ? 0 : refreshAt(known) - clock.now();
    const pauseMs = this.#planFetchedAt + LIMITS.pause - clock.monotonic();
    return Math.max(0, dueMs, pauseMs, this.#plans.waitMs);
  }

  /** Milliseconds until the next report. */
  #untilReport(): number {
    const { clock, store, plan } = this.#parts;
    const waitMs = this.#reports.waitMs;
    if (waitMs > 0 || store.unanswered() !== undefined) return waitMs;
    const hasNews = this.#asked || store.waiting() > 0 || store.untoldOrders().length > 0;
    if (this.#lastReportAt === null)
      return hasNews ? 0 : Math.max(0, this.#firstReportAt - clock.monotonic());
    const sinceMs = clock.now() - this.#lastReportAt;
    // The wall clock was set back.
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
      // Reported once for each series of failures.
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

  /**
   * Adopts the service's numbering when it knows later reports than this device.
   * @throws {PartnerError} when the report was not accepted and waits under a new number
   */
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

  /**
   * Gives up a report that keeps being refused. Only an answer with an error code of the API proves that the report is
   * wrong: a proxy may answer with any status.
   */
  #giveUpIfHopeless(report: NumberedReport, error: PartnerError): void {
    const isRefused = [400, 413, 422].includes(error.status ?? 0) && error.reason !== undefined;
    if (!isRefused || this.#reports.failures + 1 < MOST_REFUSALS) return;
    this.#parts.gaveUp(this.#parts.store.giveUp(report), error);
  }

  /** Acts on the plan revision and the orders in a receipt. */
  async #follow(receipt: unknown): Promise<void> {
    const { plan, takeOrders } = this.#parts;
    const revision = fieldOf(receipt, 'plan_revision');
    this.#planOutdated = typeof revision === 'string' && revision !== plan()?.revision;
    const orders = fieldOf(receipt, 'orders');
    if (Array.isArray(orders)) await takeOrders(orders);
  }
}

/** The highest accepted number: far above what any device reaches, and low enough to continue from. */
const MOST_REPORTS = 2 ** 48;

function isHighest(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MOST_REPORTS;
}

function takenIn({ body }: NumberedReport): readonly string[] {
  const taken = fieldOf(JSON.parse(body), 'orders_taken');
  return Array.isArray(taken) ? taken.filter((jti) => typeof jti === 'string') : [];
}
