/**
 * Alarms about backups that a write-only key stored in the name of a machine for which others store too. Whoever has
 * taken over a machine with such a key can name any host in what he stores. These snapshots are kept apart from others,
 * but a person has to learn of them. Each name of each key is judged once, so that a machine that has moved to a
 * write-only key causes one alarm, not one every night.
 */
import type { Clock } from '../../base/clock.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { isFull, storeChoice, storeKey, storedByText } from '../../base/stored-by.ts';
import type { HostClaim } from '../../catalog/ingest/sync.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { Alarm } from '../../watch/alarms.ts';

const OPEN = 'alarms of names';
/** Setting: for each key and name, when it was first seen and whether an alarm was raised. */
const JUDGED = 'names of write-only keys';
/**
 * Names that are kept for each key, as whoever has the key can invent any number. Names beyond that are judged anew each time.
 */
const KEPT_OF_KEY = 2_000;
/** Open alarms for each key: more of them would say nothing new. */
const OPEN_OF_KEY = 10;
const SHOWN = 200;

interface Judged {
  readonly firstMs: number;
  readonly isTold: boolean;
}

/** A claim, and where its repository lies. */
export interface PlacedClaim extends HostClaim {
  readonly destination: string;
}

export class ClaimedNames {
  readonly #store: SettingStore;
  readonly #clock: Clock;

  constructor(store: SettingStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  open(): readonly Alarm[] {
    return (read(this.#store.get(OPEN)) as readonly Alarm[] | undefined) ?? [];
  }

  /** Closes the open alarms. A name for which an alarm was raised never causes another one. */
  acknowledge(): void {
    this.#store.set(OPEN, undefined);
  }

  /**
   * Returns the new alarms.
   * @param claims from all known repositories
   * @param host of this machine: it always counts as taken, since the agent stores with full keys
   */
  judge(claims: readonly PlacedClaim[], host: string): readonly Alarm[] {
    // There may be many names: each is folded once, and compared only with names that people take for the same, grouped by key.
    const named = claims.map((claim) => namedClaim(claim));
    const own = named.filter(({ claim }) => !isFull(claim.storedBy));
    const before = this.#store.get(JUDGED);
    if (own.length === 0) return [];
    const judged = new Map(before === undefined ? [] : (JSON.parse(before) as [string, Judged][]));
    for (const { claim, name } of own) {
      const known = judged.get(name);
      const firstMs = Math.min(claim.firstMs, known?.firstMs ?? claim.firstMs);
      judged.set(name, { firstMs, isTold: known?.isTold ?? false });
    }
    const open = [...this.open()];
    const raised: Alarm[] = [];
    const alikeTo = indexOf(named, judged);
    const here = foldedName(host);
    for (const one of own) {
      const { claim, name, host: folded } = one;
      const mine = judged.get(name);
      if (mine === undefined || mine.isTold) continue;
      const others = othersOf(one, mine, alikeTo(folded));
      if (others.length === 0 && !isSameName(here, folded)) continue;
      const ofKey = open.filter(({ facts }) => facts['key'] === storeKey(claim.storedBy));
      const isOpen = ofKey.some(({ source }) => source === shown(claim.host));
      // Told when there is room again, after a person has seen the others.
      if (!isOpen && ofKey.length >= OPEN_OF_KEY) continue;
      judged.set(name, { ...mine, isTold: true });
      if (isOpen) continue;
      const alarm = alarmOf(claim, others, this.#clock.now());
      open.push(alarm);
      raised.push(alarm);
    }
    const text = JSON.stringify(kept(judged));
    if (text !== before) this.#store.set(JUDGED, text);
    if (raised.length > 0) this.#store.set(OPEN, JSON.stringify(open));
    return raised;
  }
}

/** Names with an alarm are kept first, then those that were seen first. */
function kept(judged: ReadonlyMap<string, Judged>): readonly (readonly [string, Judged])[] {
  const ofKey = Map.groupBy(judged, ([name]) => name.slice(0, name.indexOf(' ')));
  return [...ofKey.values()].flatMap((names) =>
    names
      .toSorted(([, a], [, b]) => Number(b.isTold) - Number(a.isTold) || a.firstMs - b.firstMs)
      .slice(0, KEPT_OF_KEY),
  );
}

/** What one key stored under names that people take for the same. */
interface Others {
  /** The first claim in the order of the input. */
  readonly claim: PlacedClaim;
  readonly key: string;
  readonly sources: Set<string>;
  firstMs: number;
}

/** Who else stores under that name: full keys, or another write-only key that stored under it earlier. */
function othersOf(
  { key }: NamedClaim,
  { firstMs }: Judged,
  alike: readonly Others[],
): readonly Pick<PlacedClaim, 'storedBy' | 'sources'>[] {
  const isEarlier = (other: Others): boolean =>
    other.firstMs < firstMs || (other.firstMs === firstMs && other.key < key);
  return alike
    .filter((other) => other.key !== key && (isFull(other.claim.storedBy) || isEarlier(other)))
    .map(({ claim, sources }) => ({ storedBy: claim.storedBy, sources: [...sources] }));
}

/**
 * Returns a function that looks up what is stored under equivalent names, so that few names have to be compared,
 * however many there are.
 */
function indexOf(
  named: readonly NamedClaim[],
  judged: ReadonlyMap<string, Judged>,
): (host: FoldedName) => readonly Others[] {
  const [byWhole, byLabel] = [new Map<string, Map<string, Others>>(), new Map<string, Map<string, Others>>()];
  for (const { claim, key, name, host } of named) {
    const firstMs = judged.get(name)?.firstMs ?? claim.firstMs;
    const add = (index: typeof byWhole, text: string): void => {
      const keys = index.get(text) ?? new Map<string, Others>();
      index.set(text, keys);
      const others = keys.get(key) ?? { claim, key, sources: new Set<string>(), firstMs };
      keys.set(key, others);
      others.firstMs = Math.min(others.firstMs, firstMs);
      for (const source of claim.sources) others.sources.add(source);
    };
    add(byWhole, host.whole);
    if (host.label !== undefined) add(byLabel, host.label);
  }
  return ({ whole, label }) => [
    ...(byWhole.get(whole)?.values() ?? []),
    // A name without a domain may mean any host with that label; a full name only matches the bare label.
    ...((label === undefined ? byLabel.get(whole) : byWhole.get(label))?.values() ?? []),
  ];
}

interface NamedClaim {
  readonly claim: PlacedClaim;
  /** The key that stored it. */
  readonly key: string;
  readonly host: FoldedName;
  /** Identifies the claim of this key to this name. */
  readonly name: string;
}

function namedClaim(claim: PlacedClaim): NamedClaim {
  const [key, host] = [storeKey(claim.storedBy), foldedName(claim.host)];
  return { claim, key, host, name: `${key} ${host.whole}` };
}

/** A host name as people read it: without invisible characters, capital letters or accents. */
export interface FoldedName {
  readonly whole: string;
  /** The part before the domain; undefined for a name without a domain and for an address. */
  readonly label: string | undefined;
}

/** Full stops of other scripts, which host names may contain. */
const STOPS = /[\u3002\u06d4]/gu;
const IP_ADDRESS = /^[\d.]+$|:/;

export function foldedName(host: string): FoldedName {
  const seen = host
    .normalize('NFKC')
    .replaceAll(STOPS, '.')
    .normalize('NFD')
    .replaceAll(/[\p{C}\p{Z}\p{M}]/gu, '');
  const whole = seen.toLowerCase().replaceAll(/^\.+|\.+$/g, '');
  const dot = whole.indexOf('.');
  return { whole, label: dot === -1 || IP_ADDRESS.test(whole) ? undefined : whole.slice(0, dot) };
}

/**
 * Whether people take the two names for the same: `db1` and `DB1.example.com`, but not `mail.example.com` and `mail.example.org`.
 */
export function isSameName(one: FoldedName, other: FoldedName): boolean {
  return one.whole === other.whole || one.label === other.whole || other.label === one.whole;
}

function alarmOf(
  claim: PlacedClaim,
  others: readonly Pick<PlacedClaim, 'storedBy' | 'sources'>[],
  at: number,
): Alarm {
  const { storedBy, host, newest, sources, destination } = claim;
  const key = storeKey(storedBy);
  const who = others.find((one) => isFull(one.storedBy)) ?? others[0];
  const whose =
    who === undefined
      ? 'full keys store'
      : `${storedByText(who.storedBy)} ${isFull(who.storedBy) ? 'store' : 'stored'}`;
  const isSame = others.some((other) => other.sources.some((source) => sources.includes(source)));
  const text = [
    `${capital(storedByText(storedBy))} stored a backup in the name of ${shown(host)}, for which ${whose} too${isSame ? ', and of the same paths' : ''}: snapshot ${newest.id.slice(0, 8)}.`,
    'It does not count as a backup of that machine, and nothing is restored from it unless somebody asks for it.',
    `If the machine has moved to that key, acknowledge this alarm. If not, somebody else has the key: remove it (${holdfast`keys list -r ${destination}`} names it, and ${holdfast`keys remove ID -r ${destination}`} removes it), take away its access to the storage, and look at what it stored: ${holdfast`snapshots --stored-by ${storeChoice(storedBy)} -r ${destination}`}`,
  ];
  const facts = {
    key,
    ...(isFull(storedBy) ? {} : { write_only_key: storedBy.number, label: storedBy.label ?? '' }),
    host: shown(host),
    same_paths: isSame ? 'yes' : 'no',
  };
  const before = { snapshot: newest.id, destination };
  const id = `alm_claimed_${at}_${newest.id.slice(0, 8)}`;
  return { id, kind: 'claimed', source: shown(host), at, text: text.join(' '), facts, before };
}

function shown(host: string): string {
  return host.replaceAll(/\p{C}/gu, '�').slice(0, SHOWN);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function read(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
