import { expect, test } from 'vitest';
import { RequestError, StateError } from '../../../src/base/errors.ts';
import type { Destinations, Place } from '../../../src/daemon/places/destinations.ts';
import { isThroughNetwork, preparePass } from '../../../src/daemon/jobs/prepare-pass.ts';
import type { EngineDestination } from '../../../src/engine/protocol.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { newJob } from '../../../src/jobs/job-states.ts';
import { never } from '../../support/engine.ts';
import { backupOf } from '../jobs/runner-site.ts';

interface Facts {
  readonly far?: boolean;
  readonly absent?: boolean;
  readonly unknown?: boolean;
  readonly secretless?: boolean;
}

/** Destinations by name; others are not configured. */
function destinationsOf(places: Readonly<Record<string, Facts>>): Destinations {
  const placeOf = (name: string): Place => ({
    name,
    url: `url of ${name}`,
    location: name,
    shown: name,
    directory: places[name]?.far === true ? undefined : `/${name}`,
    passphrase: null,
    access: undefined,
  });
  return {
    all: () => Object.keys(places).map(placeOf),
    stores: () => [],
    reachOf: (url) => url,
    standard: () => placeOf('default'),
    placeOf: ({ name }) => placeOf(name),
    find(name) {
      if (places[name] === undefined) throw new RequestError('INVALID_DESTINATION', 'There is none');
      return placeOf(name);
    },
    async open({ name }): Promise<EngineDestination> {
      if (places[name]?.secretless === true)
        throw new StateError('WRONG_PASSPHRASE', 'Nothing says what it is');
      const secret = { kind: 'passphrase' as const, text: 'x' };
      return await Promise.resolve({ name, url: name, secret, repositoryId: null, uploadLimit: null });
    },
    repositoryId: ({ name }) => (places[name]?.unknown === true ? undefined : 'f'.repeat(32)),
    remember: () => undefined,
    isPresent: ({ name }) => places[name]?.absent !== true,
    isSeen: ({ name }) => places[name]?.absent !== true,
  };
}

function jobTo(destination: string, snapshot: string | null = `snapshot in ${destination}`): Job {
  const { job } = newJob(`bkp_${destination}`, backupOf('/home', destination), 'schedule', 0);
  return { ...job, snapshot_id: snapshot };
}

async function prepare(
  to: string,
  kind: 'reads' | 'copies',
  others: readonly string[],
  places: Readonly<Record<string, Facts>>,
) {
  const destinations = destinationsOf(places);
  const jobs = others.map((name) => jobTo(name));
  const part =
    kind === 'reads'
      ? ({ kind, pass: 'p', waiting: jobs } as const)
      : ({ kind, pass: 'p', from: jobs } as const);
  return await preparePass(destinations.find(to), part, { destinations, stateDirectory: '/state' }, never);
}

test('a copy is taken from this machine first, then from far away, and not from where nothing is to be had', async () => {
  const pass = await prepare('x', 'copies', ['far', 'gone', 'near', 'locked', 'removed'], {
    x: {},
    far: { far: true },
    gone: { absent: true },
    near: {},
    locked: { secretless: true },
  });
  expect(
    pass?.copyFrom?.map(({ destination, snapshotId, jobId }) => [destination.name, snapshotId, jobId]),
  ).toEqual([
    ['near', 'snapshot in near', 'bkp_near'],
    ['far', 'snapshot in far', 'bkp_far'],
  ]);
  expect(pass?.spool).toEqual({ directory: '/state/spool/p', use: 'read' });
});

test('packs are kept by a far reader for whom somebody waits, and by nobody else', async () => {
  const places = { here: {}, far: { far: true }, other: {}, gone: { absent: true } };
  const spoolOf = async (to: string, waiting: readonly string[]) =>
    (await prepare(to, 'reads', waiting, places))?.spool;
  expect(await spoolOf('far', ['other'])).toEqual({ directory: '/state/spool/p', use: 'keep' });
  expect(await spoolOf('far', [])).toBeNull();
  expect(await spoolOf('far', ['gone'])).toBeNull();
  expect(await spoolOf('here', ['far'])).toBeNull();
});

test('a repository that may have to be made is made like another one of the source, where there is one', async () => {
  const places = { fresh: { unknown: true }, fresh2: { unknown: true }, old: {}, far: { far: true } };
  const alikeOf = async (to: string) =>
    (await prepare(to, 'reads', ['far', 'fresh2', 'old'], places))?.alike.map(({ name }) => name);
  expect(await alikeOf('fresh')).toEqual(['old', 'far']);
  expect(await alikeOf('old')).toEqual([]);
});

test('a copy goes through the network when it is sent there, or can only be had from there', () => {
  const destinations = destinationsOf({ here: {}, near: {}, far: { far: true }, gone: { absent: true } });
  const copies = (to: string, ...from: readonly string[]): boolean => {
    const part = { kind: 'copies' as const, pass: 'p', from: from.map((name) => jobTo(name)) };
    return isThroughNetwork(jobTo(to), part, destinations);
  };
  expect([copies('here', 'near', 'far'), copies('here', 'gone', 'far'), copies('far', 'near')]).toEqual([
    false,
    true,
    true,
  ]);
  expect(isThroughNetwork(jobTo('here'), { kind: 'alone' }, destinations)).toBe(false);
});

test('a backup by itself is told nothing of this', async () => {
  const destinations = destinationsOf({ a: {} });
  const given = { destinations, stateDirectory: '/state' };
  expect(await preparePass(destinations.find('a'), { kind: 'alone' }, given, never)).toBeUndefined();
});
