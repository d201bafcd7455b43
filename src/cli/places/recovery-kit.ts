/** Writes the recovery kit: what a person needs to open the embedded repository when this machine is gone. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { writeFileAtomically } from '../../base/atomic-file.ts';
import { localTime } from '../terminal/wording.ts';

export interface KitFacts {
  /** The path of the repository. */
  readonly location: string;
  readonly passphrase: string;
  readonly recoveryCode: string;
  readonly madeMs: number;
}

/** Writes the kit, readable by its owner only, in place of an older one. @throws {StateError} */
export async function writeRecoveryKit(path: string, facts: KitFacts): Promise<void> {
  await writeFileAtomically(path, kitText(facts));
}

function kitText({ location, passphrase, recoveryCode, madeMs }: KitFacts): string {
  return `HOLDFAST RECOVERY KIT
made on ${localTime(madeMs)} for ${hostname()}

Whoever has this page can read your backups. Without it, once this machine is lost,
nobody can. Keep it in another place: print it, or put it into a password manager.

  Repository     ${location}
  Passphrase     ${passphrase}
  Recovery code  ${recoveryCode}

The passphrase and the recovery code each open the repository by themselves, and
every other one that the agent of this computer makes, unless its destination was
given a passphrase of its own. Whatever else this computer backs up to, see what
opens it:               node service/bin/holdfast.js keys list -r NAME

This machine opens them without the kit: its agent keeps what it needs to make backups.

To restore on another machine
  1. Get Holdfast and run in its folder: npm ci && npm run build
  2. Bring the repository directory there, or connect the drive with a copy of it.
  3. See what is in it:   node service/bin/holdfast.js snapshots -r REPOSITORY
  4. Bring files back:    node service/bin/holdfast.js restore -r REPOSITORY latest --target DIR
     and type the passphrase or the recovery code when asked. "latest" is one snapshot:
     of several sources each has its own, so restore the newest of each by its id.
`;
}

const CONSONANTS = 'bdfghjklmnprstvz';
const VOWELS = 'aiou';

/**
 * A passphrase that can be read aloud: 6 groups of 5 letters with 16 random bits each (proquints,
 * https://arxiv.org/html/0901.4016). 96 bits behind Argon2 are beyond any search.
 */
export function generatePassphrase(): string {
  const random = randomBytes(12);
  const groups = [0, 2, 4, 6, 8, 10].map((at) => {
    const bits = random.readUInt16BE(at);
    const letter = (letters: string, shift: number): string =>
      letters.charAt((bits >> shift) & (letters.length - 1));
    return (
      letter(CONSONANTS, 12) +
      letter(VOWELS, 10) +
      letter(CONSONANTS, 6) +
      letter(VOWELS, 4) +
      letter(CONSONANTS, 0)
    );
  });
  return groups.join('-');
}
