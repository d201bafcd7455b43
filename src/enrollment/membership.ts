/** The agent's relation to a Partner service: not enrolled, or one of its devices. Each running agent has one. */
import type { Clock } from '../base/clock.ts';
import { BugError, HoldfastError, RequestError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import type { Settings } from '../config/settings.ts';
import type { PartnerReportStore, ReportContents } from '../db/partner-reports.ts';
import type { PartnerStatus, StatusCheck } from '../jobs/agent.ts';
import type { Job } from '../jobs/job.ts';
import { askPartner, fieldOf, invalidReply } from './ask-partner.ts';
import { isUnknownDevice } from './backoff.ts';
import { alreadyEnrolled, enroll, type EnrollmentWish } from './enroll.ts';
import { type Enrollment, readEnrollment, removeEnrollment, replaceEnrollment } from './enrollment-file.ts';
import { type SnapshotHead, Witness } from './heads.ts';
import { Orders } from './orders.ts';
import { grantedPlan, type GrantedPlan, heldBack, type HeldBack } from './plan.ts';
import { Reporter } from './reporter.ts';
import { reportText, resultOf, type StoredNow } from './result.ts';
import { type OrderKind, type PlanDocument, readPlan } from './signed.ts';
import { checksOf, damageChecks, reportProblem, statusOf } from './status.ts';

export interface MembershipParts {
  readonly stateDirectory: string;
  /** Version of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly settings: () => Pick<Settings, 'partner'>;
  readonly store: PartnerReportStore;
  readonly job: (id: string) => Job | undefined;
  /** Seconds between expected backups; null when nothing is scheduled. */
  readonly expectedEvery: () => number | null;
  /** Null while the amount is unknown. */
  readonly stored: () => StoredNow | null;
  /** The newest record of each writer of the repositories of this machine. */
  readonly heads: () => Promise<readonly SnapshotHead[]>;
  /** Backs up all configured sources. */
  readonly backUpAll: () => void;
  /** Called when the plan has changed or ended. */
  readonly planChanged: () => void;
  /** Registers a text as a secret, to be removed from logs. */
  readonly learn: (secret: string) => void;
  readonly log: MembershipLog;
}

export interface MembershipLog {
  info(text: string): void;
  warn(facts: object, text: string): void;
}

/** An enrollment that is in effect. */
interface Active {
  readonly enrollment: Enrollment;
  /** Undefined when the stored plan has no valid signature. */
  readonly plan: PlanDocument | undefined;
}

export class Membership implements AsyncDisposable {
  readonly #parts: MembershipParts;
  #active: Active | undefined;
  #reporter: Reporter | undefined;
  /** The enrollment file exists but cannot be read. */
  #isDamaged = false;
  /** Enrolling or leaving is under way; only one may be at a time. */
  #changing = false;
  /** Time of the storage figure that was reported last. */
  #storedToldAt: number | null = null;
  #witness = new Witness();

  private constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /**
   * Resumes the enrollment of an earlier process. One that cannot be read is reported, and does not prevent backups.
   */
  static async open(parts: MembershipParts): Promise<Membership> {
    const membership = new Membership(parts);
    const enrollment = await membership.#read();
    if (enrollment !== undefined) {
      parts.learn(enrollment.deviceKey);
      membership.#active = { enrollment, plan: await membership.#planOf(enrollment) };
      parts.store.begin(enrollment.deviceId, enrollment.enrolledAt);
      membership.#noteMissed();
    }
    return membership;
  }

  /** Starts to report. */
  start(): void {
    if (this.#active !== undefined) this.#report();
  }

  /** The plan that applies instead of the configured one; undefined while the device is not enrolled. */
  plan(): GrantedPlan | undefined {
    return this.#active === undefined ? undefined : grantedPlan(this.#active.plan, this.#parts.clock.now());
  }

  /** Why automatic backups are held back; null when they are not. */
  heldBack(): HeldBack | null {
    const { settings, clock } = this.#parts;
    return heldBack(this.#active?.plan, settings().partner, clock.now());
  }

  /** The checks for `GET /status`. */
  checks(): readonly StatusCheck[] {
    const { clock, settings } = this.#parts;
    return this.#active === undefined
      ? damageChecks(this.#isDamaged)
      : checksOf(this.#active, {
          heldBack: this.heldBack(),
          afterTrial: settings().partner.afterTrial,
          isUnknownDevice: isUnknownDevice(this.#reporter?.lastError),
          isContradicted: this.#witness.isContradicted,
          nowMs: clock.now(),
        });
  }

  /** Null while the device is not enrolled. */
  status(): PartnerStatus | null {
    return this.#active === undefined ? null : this.#statusOf(this.#active);
  }

  /** Notes a job that has ended. */
  ended(job: Job): void {
    if (this.#active === undefined) return;
    this.#note(job);
    this.#reporter?.look();
  }

  /** @throws {RequestError} {PartnerError} {StateError} as `enroll` in enroll.ts */
  async enroll(wish: EnrollmentWish, signal: AbortSignal): Promise<PartnerStatus> {
    return await this.#alone(async () => {
      if (this.#active !== undefined) throw alreadyEnrolled(this.#active.enrollment.address);
      const { stateDirectory, version, clock, learn, store, planChanged } = this.#parts;
      learn(wish.token.trim());
      const place = { stateDirectory, version, now: () => clock.now() };
      const enrollment = await enroll(wish, place, signal);
      learn(enrollment.deviceKey);
      store.begin(enrollment.deviceId, enrollment.enrolledAt);
      this.#active = { enrollment, plan: await this.#planOf(enrollment) };
      this.#report();
      // So that the partner sees the device at once.
      this.#reporter?.reportSoon();
      planChanged();
      return this.#statusOf(this.#active);
    });
  }

  /**
   * Ends the enrollment on this side: the key is deleted, reports stop, and the configured plan applies again. Resolves
   * with the status before; null for an enrollment that could not be read.
   * @throws {RequestError} NOT_ENROLLED; {StateError} WRITE_ERROR, in which case nothing has changed
   */
  async leave(): Promise<PartnerStatus | null> {
    return await this.#alone(async () => {
      const { stateDirectory, store, planChanged } = this.#parts;
      if (this.#active === undefined && !this.#isDamaged) throw notEnrolled();
      const status = this.status();
      // The reporter is closed first, as it might be about to write a new plan.
      await this.#reporter?.close();
      try {
        await removeEnrollment(stateDirectory);
      } catch (error) {
        if (this.#active !== undefined) this.#report();
        throw error;
      }
      this.#reporter = undefined;
      this.#active = undefined;
      this.#isDamaged = false;
      store.end();
      planChanged();
      return status;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reporter?.close();
  }

  async #read(): Promise<Enrollment | undefined> {
    try {
      return await readEnrollment(this.#parts.stateDirectory);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      this.#isDamaged = true;
      this.#parts.log.warn({ err: error }, 'the enrollment with a Partner service cannot be read');
      return undefined;
    }
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#changing)
      throw new RequestError('INVALID_REQUEST', 'This device is just being enrolled or removed', {
        hint: `Wait a moment, then see: ${holdfast`enroll --status`}`,
        retry: 'later',
      });
    this.#changing = true;
    try {
      return await work();
    } finally {
      this.#changing = false;
    }
  }

  #statusOf(active: Active): PartnerStatus {
    const { store } = this.#parts;
    const error = this.#reporter?.lastError ?? null;
    return statusOf(active, {
      last_at: this.#reporter?.lastReportAt ?? null,
      results_waiting: store.unconfirmed(),
      results_dropped: store.dropped(),
      ...reportProblem(error),
    });
  }

  #report(): void {
    const { clock, store, version, log } = this.#parts;
    this.#storedToldAt = null;
    this.#witness = new Witness();
    const orders = new Orders({
      enrollment: () => this.#enrolled().enrollment,
      store,
      now: () => clock.now(),
      carryOut: (order) => this.#carryOut(order),
      refused: (error) => log.warn({ err: error }, 'an order of the partner was refused'),
    });
    this.#reporter = new Reporter({
      clock,
      store,
      ask: async (request, signal) => {
        const { address, deviceKey } = this.#enrolled().enrollment;
        return await askPartner(address, { ...request, key: deviceKey, version }, signal);
      },
      plan: () => this.#active?.plan,
      takePlan: async (reply) => await this.#takePlan(reply),
      takeOrders: async (texts) => await orders.take(texts),
      prepare: async () => {
        const heads = await this.#parts.heads();
        return (contents) => this.#write(contents, heads);
      },
      answered: ({ body }, receipt) => this.#answered(body, receipt),
      setBack: () => {
        log.warn({}, 'the Partner service knows later reports of this device: its state was set back');
        this.#storedToldAt = null;
        this.#witness = new Witness();
      },
      trouble: (error) =>
        log.warn({ err: error }, 'the Partner service did not get a report; Holdfast keeps trying'),
      gaveUp: (results, error) =>
        log.warn({ results, err: error }, 'the Partner service rejects a report; Holdfast gave it up'),
    });
    this.#reporter.start();
  }

  #enrolled(): Active {
    if (this.#active === undefined) throw new BugError('A device that is not enrolled reports');
    return this.#active;
  }

  #write(contents: ReportContents, heads: readonly SnapshotHead[]): string {
    const { version, expectedEvery, stored } = this.#parts;
    const known = stored();
    const isNew = known !== null && known.at !== this.#storedToldAt;
    if (isNew) this.#storedToldAt = known.at;
    return reportText({
      ...contents,
      agentVersion: version,
      expectedEverySeconds: this.heldBack() === null ? expectedEvery() : null,
      stored: isNew ? known : null,
      heads: this.#witness.news(heads),
    });
  }

  #answered(body: string, receipt: unknown): void {
    const heads = fieldOf(JSON.parse(body), 'heads');
    const told = Array.isArray(heads) ? (heads as readonly SnapshotHead[]) : [];
    const repositories = this.#witness.answered(told, fieldOf(receipt, 'heads_refused'));
    if (repositories > 0)
      this.#parts.log.warn(
        { repositories },
        'the Partner service remembers more of a repository than is there',
      );
  }

  /** Accepts a plan only if it is signed for this device and has not expired; otherwise the previous one stays. */
  async #takePlan(reply: unknown): Promise<void> {
    const { clock, stateDirectory, planChanged } = this.#parts;
    const { enrollment } = this.#enrolled();
    const signedPlan = fieldOf(reply, 'document');
    if (typeof signedPlan !== 'string') throw invalidReply('The plan');
    const plan = await readPlan(signedPlan, enrollment.serviceKey, enrollment.deviceId);
    if (plan.exp * 1000 <= clock.now())
      throw invalidReply('A plan whose time is over, by the clock of this machine');
    const next = { ...enrollment, signedPlan };
    await replaceEnrollment(stateDirectory, next);
    this.#active = { enrollment: next, plan };
    planChanged();
  }

  #carryOut(order: OrderKind): void {
    const { backUpAll, log } = this.#parts;
    log.info(`the partner ordered: ${order}`);
    if (order === 'run_backup') backUpAll();
    else this.#reporter?.reportSoon();
  }

  /** Notes jobs that ended just before a crash and were not noted. */
  #noteMissed(): void {
    const { store, job } = this.#parts;
    for (const id of store.unnoted()) {
      const found = job(id);
      if (found !== undefined) this.#note(found);
    }
  }

  #note(job: Job): void {
    const result = resultOf(job);
    const dropped = result === undefined ? 0 : this.#parts.store.note(result);
    if (dropped > 0)
      this.#parts.log.warn(
        { dropped },
        'too many results wait for the Partner service; the oldest is given up',
      );
  }

  async #planOf({ signedPlan, serviceKey, deviceId }: Enrollment): Promise<PlanDocument | undefined> {
    try {
      return await readPlan(signedPlan, serviceKey, deviceId);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      this.#parts.log.warn({ err: error }, 'the plan that is kept is not used; a new one is fetched');
      return undefined;
    }
  }
}

export function notEnrolled(): RequestError {
  return new RequestError('NOT_ENROLLED', 'This device is not enrolled with a Partner service', {
    hint: `Enroll it with a token from your partner: ${holdfast`enroll URL TOKEN`}`,
  });
}
