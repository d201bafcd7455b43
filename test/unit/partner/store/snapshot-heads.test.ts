import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  MOST_WRITERS,
  type HeadTeller,
  type SnapshotHead,
} from '../../../../src/partner/store/snapshot-heads.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  STORE_KINDS,
  someCustomer,
  someDevice,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

const REPOSITORY = 'ab'.repeat(16);
const WRITER = 'cd'.repeat(16);
const DAY = 86_400_000;

function head(seq: number, more: Partial<SnapshotHead> = {}): SnapshotHead {
  return { repositoryId: REPOSITORY, writer: WRITER, seq, hash: seq.toString(16).padStart(64, '0'), ...more };
}

describe.each(STORE_KINDS)('the witness of snapshot heads on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;
  let customerId: string;
  let deviceId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
    ({ id: customerId } = await someCustomer(store, partnerId));
    deviceId = (await someDevice(store, partnerId, customerId)).device.id;
  });
  afterEach(async () => await site.remove());

  const teller = (reportSeq: number, more: Partial<HeadTeller> = {}): HeadTeller => ({
    partnerId,
    customerId,
    deviceId,
    reportSeq,
    ip: null,
    ...more,
  });
  const reasons = async (reportSeq: number, ...heads: readonly SnapshotHead[]) =>
    (await store.heads.remember(teller(reportSeq), heads)).map(({ reason }) => reason);
  const known = async () => {
    const { items } = await store.heads.list({ partnerId, customerId, repositoryId: REPOSITORY, limit: 100 });
    return items.map(({ seq, hash }) => ({ seq, hash }));
  };
  const kept = ({ seq, hash }: SnapshotHead) => [{ seq, hash }];

  it('remembers the highest of a writer, and the same again is no news', async () => {
    expect(await reasons(1, head(5))).toEqual([]);
    expect(await reasons(2, head(8))).toEqual([]);
    expect(await reasons(3, head(8))).toEqual([]);
    expect(await known()).toEqual(kept(head(8)));
  });

  it('does not believe a lower number, nor another hash for the same one, from whatever report', async () => {
    await reasons(5, head(8));
    expect(await reasons(6, head(7))).toEqual(['rolled_back']);
    expect(await reasons(7, head(8, { hash: 'f'.repeat(64) }))).toEqual(['forked']);
    expect(await reasons(1, head(8, { hash: 'f'.repeat(64) }))).toEqual(['forked']);
    expect(await known()).toEqual(kept(head(8)));
  });

  it('takes a report that is late for what it is', async () => {
    await reasons(5, head(8));
    expect(await reasons(4, head(7))).toEqual([]);
    expect(await reasons(5, head(7))).toEqual([]);
    expect(await known()).toEqual(kept(head(8)));
    // Told again in a later report: from then on an older head in report 6 is late too, and one in report 8 is not.
    await reasons(7, head(8));
    expect(await reasons(6, head(7))).toEqual([]);
    expect(await reasons(8, head(7))).toEqual(['rolled_back']);
  });

  it('a higher head in a late report does not make the reports between them late', async () => {
    await reasons(9, head(3));
    expect(await reasons(2, head(8))).toEqual([]);
    expect(await reasons(9, head(3))).toEqual([]);
    expect(await reasons(10, head(4))).toEqual(['rolled_back']);
  });

  it('remembers for each device by itself, so that none can undo what another told', async () => {
    await reasons(1, head(8));
    const other = (await someDevice(store, partnerId, customerId)).device.id;
    const lie = head(2, { hash: 'e'.repeat(64) });
    expect(await store.heads.remember(teller(1, { deviceId: other }), [lie])).toEqual([]);
    expect(await known()).toEqual([...kept(head(8)), ...kept(lie)]);
  });

  it('tells of removed devices too, and never of another customer or partner', async () => {
    await reasons(1, head(8));
    await store.devices.remove(partnerId, deviceId, OWNER);
    expect(await known()).toEqual(kept(head(8)));
    const other = await somePartner(store, 'other');
    const query = { repositoryId: REPOSITORY, limit: 100 };
    expect((await store.heads.list({ ...query, partnerId: other.id, customerId })).items).toEqual([]);
    const { id } = await someCustomer(store, partnerId);
    expect((await store.heads.list({ ...query, partnerId, customerId: id })).items).toEqual([]);
  });

  it('records a refusal once a day for each writer, with both heads', async () => {
    const refusals = async () => {
      const { items } = await store.audit.list(partnerId, { limit: 100 });
      return items.filter(({ action }) => action === 'snapshot_head.refused');
    };
    await reasons(1, head(8));
    for (let seq = 2; seq < 10; seq += 1) await reasons(seq, head(7));
    expect(await refusals()).toMatchObject([
      {
        target: deviceId,
        actor: { name: 'device' },
        before: { seq: 8, hash: head(8).hash },
        after: {
          seq: 8,
          reason: 'rolled_back',
          repository_id: REPOSITORY,
          writer: WRITER,
          refused: { seq: 7, hash: head(7).hash },
        },
      },
    ]);
    site.clock.jump(DAY);
    await reasons(10, head(7));
    expect(await refusals()).toHaveLength(2);
  });

  it('remembers a bounded number of writers, and goes on with those it knows', async () => {
    const many = Array.from({ length: MOST_WRITERS }, (_, index) =>
      head(1, { writer: index.toString(16).padStart(32, '0') }),
    );
    expect(await reasons(1, ...many)).toEqual([]);
    const [refused] = await store.heads.remember(teller(2), [head(1)]);
    expect(refused).toEqual({ ...head(1), reason: 'too_many', rememberedSeq: null });
    expect(await reasons(3, head(2, { writer: '0'.repeat(32) }))).toEqual([]);
  });

  it('keeps the highest of many that come at once', async () => {
    const seqs = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(seqs.map(async (seq) => await reasons(seq, head(seq))));
    expect(await known()).toEqual(kept(head(20)));
  });

  it('forgets a customer who was deleted 30 days ago', async () => {
    await reasons(1, head(8));
    await store.customers.remove(partnerId, customerId, OWNER);
    await store.prune();
    expect(await known()).toHaveLength(1);
    site.clock.jump(30 * DAY);
    await store.prune();
    expect(await known()).toEqual([]);
  });
});
