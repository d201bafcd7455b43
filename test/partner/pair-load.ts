/** Work for two instances: devices that report and partners who add customers, each asking until it is answered. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { SENT_BACKUP, sentReport } from '../support/partner-api-site.ts';
import { OWNER, someCustomer, someDevice, somePartner } from '../support/partner-store-site.ts';
import { persistentAsker, type PersistentAsker } from './persistent-asker.ts';
import type { Question, ServicePair } from './service-pair.ts';
import type { WebhookLog } from './webhook-log.ts';

export interface SentReport {
  readonly deviceId: string;
  readonly seq: number;
  /** Of no other report of the device. */
  readonly finishedAt: string;
}

export interface AddedCustomer {
  readonly question: Question;
  readonly name: string;
  /** The answer, as it came. */
  readonly text: string;
}

export interface PairLoad {
  readonly asker: PersistentAsker;
  /** Those that were acknowledged. */
  readonly reports: readonly SentReport[];
  readonly customers: readonly AddedCustomer[];
  /** Begins nothing more; resolves when everything is answered. */
  stop(): Promise<void>;
}

interface LoadingPartner {
  readonly id: string;
  readonly key: string;
  readonly devices: readonly { readonly id: string; readonly key: string }[];
}

const PARTNERS = 10;
const DEVICES_EACH = 4;
const REPORT_EVERY_MS = 400;
const CUSTOMERS_EVERY_MS = 1_000;
/** They are all asked for again, within the rate limit. */
const MOST_CUSTOMERS_EACH = 50;

export async function startLoad(pair: ServicePair, log: WebhookLog): Promise<PairLoad> {
  const asker = persistentAsker(pair);
  const partners: LoadingPartner[] = [];
  for (let number = 0; number < PARTNERS; number += 1)
    partners.push(await somebody(pair, asker, log, `partner-${number}`));
  const reports: SentReport[] = [];
  const customers: AddedCustomer[] = [];
  const stopping = new AbortController();

  const report = async ({ id, key }: LoadingPartner['devices'][number]): Promise<void> => {
    await delay(Math.random() * REPORT_EVERY_MS);
    for (let seq = 1; !stopping.signal.aborted; seq += 1) {
      const finishedAt = new Date().toISOString();
      const body = sentReport(seq, { results: [{ ...SENT_BACKUP, finished_at: finishedAt }] });
      await asker.ask({ path: '/devices/self/reports', key, body });
      reports.push({ deviceId: id, seq, finishedAt });
      await delay(REPORT_EVERY_MS);
    }
  };
  const addCustomer = async ({ key }: LoadingPartner): Promise<void> => {
    const name = randomUUID();
    const question = { path: '/customers', key, body: { name }, idempotencyKey: `add ${name}` };
    const { text } = await asker.ask(question);
    customers.push({ question, name, text });
  };
  /** All partners at once, whether the ones before are answered or not. */
  const addCustomers = async (): Promise<void> => {
    const adding: Promise<void>[] = [];
    for (let count = 0; count < MOST_CUSTOMERS_EACH && !stopping.signal.aborted; count += 1) {
      adding.push(...partners.map(addCustomer));
      await delay(CUSTOMERS_EVERY_MS);
    }
    await Promise.all(adding);
  };
  const working = Promise.all([...partners.flatMap(({ devices }) => devices.map(report)), addCustomers()]);
  // Whoever stops it is told.
  working.catch(() => stopping.abort());
  return {
    asker,
    reports,
    customers,
    stop: async () => {
      stopping.abort();
      await working;
    },
  };
}

/** A partner with devices of one customer, and with a webhook for what happens from then on. */
async function somebody(
  { stores }: ServicePair,
  asker: PersistentAsker,
  log: WebhookLog,
  name: string,
): Promise<LoadingPartner> {
  const { id } = await somePartner(stores, name);
  const { secret: key } = await stores.apiKeys.generate(id, 'load', OWNER);
  const customer = await someCustomer(stores, id);
  const devices: { readonly id: string; readonly key: string }[] = [];
  for (let count = 0; count < DEVICES_EACH; count += 1) {
    const enrolled = await someDevice(stores, id, customer.id);
    devices.push({ id: enrolled.device.id, key: enrolled.key });
  }
  const path = `/${name}`;
  const url = `https://localhost:${log.port}${path}`;
  const { text } = await asker.ask({ path: '/webhooks', key, body: { url } });
  const { data }: { data: { secret: string } } = JSON.parse(text);
  log.expectAt(path, data.secret);
  return { id, key, devices };
}
