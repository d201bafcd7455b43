/**
 * Says who may use a file of Windows, from the security descriptor that the system keeps for it (MS-DTYP 2.4.6). Pure
 * functions: windows-access.ts gets the bytes.
 */

/** One entry that allows something. */
export interface Allowed {
  /** In the form `S-1-5-18`. */
  readonly who: string;
  readonly mask: number;
}

export interface AccessList {
  readonly owner: string;
  /** `everything` when there is no list at all, so that nobody is refused anything. */
  readonly allowed: readonly Allowed[] | 'everything';
}

/** How far a file is open to people other than its user and the administrators. */
export interface Openness {
  /** The owner, who may change who may do what; undefined when that is somebody trusted. */
  readonly foreignOwner: string | undefined;
  readonly readers: readonly string[];
  readonly changers: readonly string[];
}

const SYSTEM = 'S-1-5-18';
export const ADMINISTRATORS = 'S-1-5-32-544';
const EVERYONE = 'S-1-1-0';
/** `NT SERVICE\Holdfast`, as `serviceSid` makes it of the name. */
export const SERVICE_SID = 'S-1-5-80-1330843935-4026354752-656021322-1287684443-3323034567';

/** Read data (or list a directory), and the generic rights that hold it. */
const READING = 0x9000_0001;
/** Write, append, delete, change attributes, permissions or owner; and the generic rights that hold them. */
const CHANGING = 0x500d_0156;

/** The bytes are no security descriptor. */
export class AccessListError extends Error {
  override readonly name = 'AccessListError';
}

/** @throws {AccessListError} */
export function parseAccessList(descriptor: Buffer): AccessList {
  try {
    const owner = sidAt(descriptor, descriptor.readUInt32LE(4));
    const listed = descriptor.readUInt32LE(16);
    const isPresent = (descriptor.readUInt16LE(2) & 0x4) !== 0 && listed !== 0;
    return { owner, allowed: isPresent ? allowedIn(descriptor, listed) : 'everything' };
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new AccessListError('The security descriptor ends too early', { cause });
    throw cause;
  }
}

/** The entries that allow something: of those that deny, none makes a file more open. */
function allowedIn(descriptor: Buffer, start: number): readonly Allowed[] {
  const found: Allowed[] = [];
  let at = start + 8;
  for (let left = descriptor.readUInt16LE(start + 4); left > 0; left -= 1) {
    const size = descriptor.readUInt16LE(at + 2);
    if (size < 8) throw new AccessListError('An entry of the access list has no end');
    const sid = sidOffset(descriptor, at);
    if (sid !== undefined) found.push({ who: sidAt(descriptor, sid), mask: descriptor.readUInt32LE(at + 4) });
    at += size;
  }
  return found;
}

/** Where an entry that allows something names whom; undefined for other entries. */
function sidOffset(descriptor: Buffer, at: number): number | undefined {
  const type = descriptor.readUInt8(at);
  // Plain, and with a condition.
  if (type === 0x00 || type === 0x09) return at + 8;
  if (type !== 0x05 && type !== 0x0b) return undefined;
  // For the objects of a directory service: up to two GUIDs stand before the name.
  const flags = descriptor.readUInt32LE(at + 8);
  return at + 12 + 16 * ((flags & 1) + ((flags >> 1) & 1));
}

/** A security identifier as text. */
export function sidAt(bytes: Buffer, at: number): string {
  const parts = bytes.readUInt8(at + 1);
  const authority = bytes.readUIntBE(at + 2, 6);
  const numbers = Array.from({ length: parts }, (_, index) => bytes.readUInt32LE(at + 8 + 4 * index));
  return ['S', bytes.readUInt8(at), authority, ...numbers].join('-');
}

/** Whom it is open to, apart from `user`, the system, the administrators and the service of Holdfast. */
export function opennessOf({ owner, allowed }: AccessList, user: string): Openness {
  const entries = allowed === 'everything' ? [{ who: EVERYONE, mask: 0xffff_ffff }] : allowed;
  const others = entries.filter(({ who }) => !isTrusted(who, user) && !isNobodyElse(who));
  const those = (mask: number): readonly string[] => [
    ...new Set(others.filter((one) => (one.mask & mask) !== 0).map(({ who }) => who)),
  ];
  return {
    foreignOwner: isTrusted(owner, user) ? undefined : owner,
    readers: those(READING),
    changers: those(CHANGING),
  };
}

/** Those who could do everything anyway: the user, and whoever administers the machine or its domain. */
function isTrusted(who: string, user: string): boolean {
  return (
    [user, SYSTEM, ADMINISTRATORS, SERVICE_SID].includes(who) || /^S-1-5-21-\d+-\d+-\d+-51[29]$/.test(who)
  );
}

/**
 * Entries that give nobody else anything: for whoever makes a file, for its owner, and for the sandboxes of programs,
 * which get nothing that their user does not have.
 */
function isNobodyElse(who: string): boolean {
  return who === 'S-1-3-0' || who === 'S-1-3-4' || /^S-1-15-[23]-/.test(who);
}

const NAMES: Readonly<Record<string, string>> = {
  [EVERYONE]: 'everyone',
  'S-1-5-7': 'anonymous users',
  'S-1-5-11': 'all users who have signed in',
  'S-1-5-32-545': 'all users of this machine',
  'S-1-5-32-546': 'guests',
  'S-1-5-4': 'all users at the machine',
};

/** For people. Most names are those of the system, in its own language, so the identifier is shown. */
export function shownSid(sid: string): string {
  return NAMES[sid] ?? sid;
}

/** In the language for security descriptors: for `user`, the system and the administrators alone; nothing from above. */
export function privateDescriptor(user: string, kind: 'file' | 'directory'): string {
  const flags = kind === 'directory' ? 'OICI' : '';
  const whom = [...new Set(['SY', 'BA', user])];
  return `D:P${whom.map((who) => `(A;${flags};FA;;;${who})`).join('')}`;
}

/** The command that makes a file or directory private. It works in both shells of Windows. */
export function privateCommand(
  path: string,
  openness: Openness,
  user: string,
  kind: 'file' | 'directory',
): string {
  const right = kind === 'directory' ? '(OI)(CI)F' : 'F';
  const whom = [...new Set([SYSTEM, ADMINISTRATORS, user])].map((who) => `"*${who}:${right}"`);
  const others = [...new Set([...openness.readers, ...openness.changers])].map((who) => ` "*${who}"`);
  const remove = others.length === 0 ? '' : ` /remove:g${others.join('')}`;
  return `icacls "${path}" /inheritance:r /grant:r ${whom.join(' ')}${remove}`;
}
