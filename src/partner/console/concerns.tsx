/** What about a customer needs attention: the end of its trial, late or failed backups, and a plan that is full. */
import type { JSX } from 'preact';
import type { Customer } from '../store/customer-view.ts';
import { shownCount, tag } from './shown.tsx';

const DAY_MS = 86_400_000;

/** A trial that ends before this time, or has ended, needs attention: a week from now. */
export function soon(now: number): number {
  return now + 7 * DAY_MS;
}

/** `ends in 5 days`, `ends today` or `ended`; undefined without a trial. */
export function trialWords({ trialEndsAt }: Pick<Customer, 'trialEndsAt'>, now: number): string | undefined {
  if (trialEndsAt === null) return undefined;
  if (trialEndsAt <= now) return 'ended';
  const days = Math.floor((trialEndsAt - now) / DAY_MS);
  return days === 0 ? 'ends within a day' : days === 1 ? 'ends in 1 day' : `ends in ${shownCount(days)} days`;
}

/** Tags for the list of customers. A trial that has more than a week left has none. */
export function concernTags(customer: Customer, now: number): readonly JSX.Element[] {
  const { devicesLate, devicesFailing, storageUsedBytes, storageLimitBytes, trialEndsAt } = customer;
  return [
    ...(trialEndsAt !== null && trialEndsAt < soon(now)
      ? [tag(`Trial ${trialWords(customer, now) ?? ''}`, trialEndsAt <= now ? 'bad' : 'warning')]
      : []),
    ...(devicesLate > 0 ? [tag(ofDevices('Backup late', devicesLate), 'bad')] : []),
    ...(devicesFailing > 0 ? [tag(ofDevices('Backup failed', devicesFailing), 'bad')] : []),
    ...(storageUsedBytes > storageLimitBytes ? [tag('Over its storage', 'warning')] : []),
  ];
}

function ofDevices(what: string, count: number): string {
  return count === 1 ? what : `${what} on ${shownCount(count)} devices`;
}
