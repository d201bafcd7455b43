import { RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import type { ListedObject } from '../../destination/destination.ts';
import { hasRetired } from '../../format/keyring.ts';
import type { Findings } from './check-report.ts';
import { isDamage } from '../chunk-index.ts';
import { openRing } from '../slots/key-slots.ts';
import { inspectCopies } from '../keys/keep-copies.ts';
import { knownSlots } from '../keys/keys.ts';
import { sha256 } from '../objects/objects.ts';
import type { Repository } from '../repository.ts';
import { copyKey } from '../objects/second-copies.ts';
import { decodeSlot } from '../slots/slot-file.ts';

/** Checks that every key slot and ring is stored and matches the keyring. */
export async function checkKeys(
  repository: Repository,
  listed: readonly ListedObject[],
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set(listed.map(({ key }) => key.slice('keys/'.length)));
  const known = new Map(knownSlots(repository.keyring).map((slot) => [slot.slot, slot]));
  for (const name of names) {
    const ring = /^ring-(\d{1,9})$/.exec(name)?.[1];
    if (ring !== undefined) await checkRing(repository, Number(ring), findings, signal);
    else if (/^[0-9a-f]{32}$/.test(name)) await checkSlot(repository, name, findings, signal);
  }
  for (const [slot, { label, kind }] of known) {
    if (!names.has(slot)) findings.add('error', `keys/${slot}`, `the ${kind} slot "${label}" is missing`);
  }
  tellMissing(names, repository, findings);
}

/**
 * Reports gaps between rings, each as one finding. Old rings are deleted when a key generation is retired, so missing
 * low numbers are then normal. Other gaps lose nothing, and a number under which a stranger had planted an object never
 * was a ring.
 */
function tellMissing(
  names: ReadonlySet<string>,
  { keyring, ringNumber }: Repository,
  findings: Findings,
): void {
  const found = [...names].map((name) => Number(/^ring-(\d{1,9})$/.exec(name)?.[1] ?? Number.NaN));
  const numbers = found.filter((n) => n < ringNumber).sort((a, b) => a - b);
  let before = hasRetired(keyring) ? (numbers[0] ?? ringNumber) - 1 : 0;
  for (const n of [...numbers, ringNumber]) {
    const missing = n - before - 1;
    if (missing === 1) findings.add('note', `keys/ring-${n - 1}`, 'an older keyring is missing');
    else if (missing > 1)
      findings.add('note', `keys/ring-${n - 1}`, `${missing} older keyrings up to it are missing`);
    before = n;
  }
}

async function checkSlot(
  repository: Repository,
  name: string,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const object = `keys/${name}`;
  const known = knownSlots(repository.keyring).find((one) => one.slot === name);
  if (known === undefined) {
    findings.add('warning', object, 'the keyring does not know it, and it opens nothing');
    return;
  }
  try {
    const bytes = await repository.destination.get(object, undefined, signal);
    const slot = decodeSlot(bytes, object);
    if (slot.slot !== name) findings.add('error', object, 'it is the slot of another name');
    if (!slot.repository.equals(repository.keyring.repository)) {
      findings.add('error', object, 'it belongs to another repository');
      return;
    }
    const same =
      known.file === undefined
        ? slot.public.equals(known.public) && slot.kind === known.kind && slot.label === known.label
        : known.file.toString('hex') === sha256(bytes);
    if (!same)
      findings.add('error', object, `the slot "${known.label}" does not match the keyring; replace it`);
  } catch (error) {
    if (!isDamage(error)) throw error;
    findings.addError(object, error);
  }
}

async function checkRing(
  repository: Repository,
  n: number,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const object = `keys/ring-${n}`;
  try {
    openRing(await repository.destination.get(object, undefined, signal), n, repository.slot);
  } catch (error) {
    // A ring older than this slot was not sealed to it; that the ring is authentic was checked before this error.
    if (error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE') return;
    if (!isDamage(error)) throw error;
    findings.addError(object, error);
  }
}

/** Checks the second copies of slots, the ring in force and the configuration in force. */
export async function checkCopies(
  repository: Repository,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  for (const { key, original, copy } of await inspectCopies(repository, signal)) {
    if (copy === 'damaged' && original !== 'damaged')
      findings.add(
        'warning',
        copyKey(key),
        `it is damaged; "${holdfastThere`prune`}" and "${holdfastThere`recover`}" recreate it`,
      );
    else if (copy === 'missing' && original === 'sound')
      findings.add(
        'note',
        key,
        `it has no second copy; "${holdfastThere`prune`}" and "${holdfastThere`recover`}" create one`,
      );
    else if (copy === 'sound' && original !== 'sound')
      findings.add(
        'error',
        key,
        `Holdfast reads its second copy instead; "${holdfastThere`recover`}" restores it`,
      );
  }
}
