/** Writes the recovery kit: what a person needs to open the embedded repository when this machine is gone. */
import { localTime } from '../../base/units.ts';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { writeFileAtomically } from '../../base/atomic-file.ts';
import { holdfastElsewhere } from '../../base/holdfast-command.ts';

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
created on ${localTime(madeMs)} for ${hostname()}

Anyone who has this page can read your backups. If this computer is lost, nobody can read
them without it. Keep it somewhere else: print it, or store it in a password manager.

  Repository     ${location}
  Passphrase     ${passphrase}
  Recovery code  ${recoveryCode}

Either the passphrase or the recovery code opens the repository, and every other one
that this computer makes, unless you gave its destination a passphrase of its own.

It does not open a repository that another computer made, even if this computer backs
up to it. That one is opened by the recovery kit of the computer that made it: keep that
kit as well. While you have this computer, see what opens a destination:
  ${holdfastElsewhere`keys list -r NAME`}

This computer does not need the kit: its agent has the keys to make backups.

To restore on another computer
  1. Install Holdfast there, with the package for its system. From a clone: npm ci, then
     write "npm start --" for "holdfast".
  2. Connect the drive that has the repository, or copy the repository directory to it.
  3. List what is in it:  ${holdfastElsewhere`snapshots -r REPOSITORY`}
     Type the passphrase or the recovery code when asked. Each line is one snapshot, of
     one folder or several: take the id of the newest line of each that you want back.
  4. Restore it:          ${holdfastElsewhere`restore -r REPOSITORY ID --target DIR`}
  5. Go on with it there: ${holdfastElsewhere`destinations add NAME REPOSITORY --default`}
     Keep this kit then: the kit that the other computer makes does not open this
     repository.
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
