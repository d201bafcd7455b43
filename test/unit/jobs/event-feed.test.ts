import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventFeed, type EventFeed } from '../../../src/jobs/event-feed.ts';
import type { AgentEvent } from '../../../src/jobs/agent.ts';
import { settle } from '../../support/manual-clock.ts';
import { databaseSite, type DatabaseSite } from '../db/open-database.ts';

let site: DatabaseSite;
let feed: EventFeed;
const over = { now: new AbortController() };

beforeEach(() => {
  site = databaseSite();
  feed = createEventFeed(site.reopen().events, site.clock);
  over.now = new AbortController();
});
afterEach(() => {
  over.now.abort();
  site.remove();
});

const tell = (jobId: string): AgentEvent => feed.append({ kind: 'job.updated', jobId, data: {} });

/** Collects what comes, until the signal aborts. */
function collect(events: AsyncIterable<AgentEvent>): {
  readonly ids: number[];
  readonly done: Promise<void>;
} {
  const ids: number[] = [];
  const run = async (): Promise<void> => {
    for await (const event of events) ids.push(event.id);
  };
  return { ids, done: run() };
}

describe('the feed of events', () => {
  it('gives those that were missed, then those that come, each once and in order', async () => {
    for (let count = 0; count < 450; count += 1) tell('a');
    const { ids, done } = collect(feed.listen(3, undefined, over.now.signal));
    tell('a');
    await settle();
    tell('b');
    tell('a');
    await settle();
    expect(ids).toEqual(Array.from({ length: 450 }, (_value, index) => index + 4));
    over.now.abort();
    await done;
  });

  it('begins with what comes after the call when nothing is asked for', async () => {
    tell('a');
    const events = feed.listen(undefined, undefined, over.now.signal);
    const next = tell('a');
    const { ids } = collect(events);
    await settle();
    expect(ids).toEqual([next.id]);
  });

  it('gives all that is kept to who names an event that is still to come', async () => {
    tell('a');
    tell('a');
    const { ids } = collect(feed.listen(9_000, undefined, over.now.signal));
    await settle();
    tell('a');
    await settle();
    expect(ids).toEqual([1, 2, 3]);
  });

  it('can be of one job', async () => {
    const { ids } = collect(feed.listen(0, 'b', over.now.signal));
    tell('a');
    const wanted = tell('b');
    await settle();
    tell('a');
    await settle();
    expect(ids).toEqual([wanted.id]);
  });

  it('ends when the signal aborts, at once when it has', async () => {
    const { done } = collect(feed.listen(0, undefined, over.now.signal));
    await settle();
    over.now.abort();
    await done;
    tell('a');
    const { ids, done: second } = collect(feed.listen(0, undefined, over.now.signal));
    await second;
    expect(ids).toEqual([]);
  });
});
