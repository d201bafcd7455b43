/**
 * Says that the state database was damaged or missing, until somebody acknowledges it: what its journal lacked is no
 * longer known, and only the log would say so.
 */
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import { createNotice } from '../../notify/notice.ts';
import type { Notifier } from '../../notify/notifier.ts';

export interface LostStateParts {
  /** Whether the database was lost before this start. */
  readonly lost: boolean;
  readonly notes: Pick<SettingStore, 'get' | 'set'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly clock: Clock;
}

/** A setting: when the loss was noticed, in milliseconds since 1970. */
const LOST = 'state_lost';

const WHAT =
  'The database of the agent was damaged or missing. It was rebuilt from its journal and the destinations, so your ' +
  'backups are safe. Earlier jobs, alarms, a pause or API credentials may be missing: check them.';

export class LostState {
  readonly #notes: LostStateParts['notes'];

  constructor({ lost, notes, notifier, clock }: LostStateParts) {
    this.#notes = notes;
    if (!lost) return;
    notes.set(LOST, String(clock.now()));
    const text = `${WHAT} Then: ${holdfast`alarms --acknowledge`}`;
    notifier.notify(createNotice({ kind: 'state.failed', host: hostname(), text }, clock));
  }

  acknowledge(): void {
    if (this.#notes.get(LOST) !== undefined) this.#notes.set(LOST, undefined);
  }

  /** Without paths, as anybody on the machine may read them. */
  checks(): readonly StatusCheck[] {
    return this.#notes.get(LOST) === undefined
      ? []
      : [{ name: 'state_lost', status: 'warning', message: WHAT }];
  }
}
