/** Judges damage that is small beside the whole source, but not beside the folder that it is in. Pure. */

/** A folder with everything below. */
export interface DamagedFolder {
  /** Relative to the source; empty for the source itself. */
  readonly path: string;
  readonly filesBefore: number;
  readonly files: number;
}

/** What a backup found, compared with the state before the current hour. */
export interface FolderFindings {
  /** Files anywhere in the source that could be read before, and look encrypted now. */
  readonly encrypted: number;
  readonly folders: readonly DamagedFolder[];
  /** Folders directly in the source with files that are gone from the source. */
  readonly lost: readonly DamagedFolder[];
  /** Whether all of it happened since the last backup, which then is the last one from before it. */
  readonly isNew: boolean;
}

/** So many files that look encrypted are damage wherever they are in the source. */
const ENCRYPTED_ANYWHERE = 100;
/** So many are damage if they are half of the files of a folder. */
const ENCRYPTED_IN_FOLDER = 20;
const ENCRYPTED_SHARE = 0.5;
/** Files are deleted on purpose more often than they are encrypted. */
const LOST_IN_FOLDER = 100;
const LOST_SHARE = 0.5;
/** Share of all encrypted files with which a folder is named in place of the source. */
const NEARLY_ALL = 0.9;

/** The files that look encrypted: of the folder that has nearly all of them, or else of the source. Null for too few. */
export function encryptedIn(
  { encrypted, folders }: FolderFindings,
  filesInSource: number,
): DamagedFolder | null {
  const isMost = ({ files, filesBefore }: DamagedFolder): boolean =>
    files >= ENCRYPTED_IN_FOLDER && files >= filesBefore * ENCRYPTED_SHARE;
  const source = { path: '', filesBefore: filesInSource, files: encrypted };
  const spoiled = folders.filter(isMost).toSorted((a, b) => b.files - a.files || depth(b) - depth(a));
  if (encrypted < ENCRYPTED_ANYWHERE && !isMost(source)) return spoiled[0] ?? null;
  const named = folders.filter(({ path, files }) => path !== '' && files >= encrypted * NEARLY_ALL);
  return named.toSorted((a, b) => depth(b) - depth(a))[0] ?? source;
}

/** The folder that lost the most files, if these were more than half of it. */
export function lostIn({ lost }: FolderFindings): DamagedFolder | null {
  const most = lost.filter(
    ({ files, filesBefore }) => files >= LOST_IN_FOLDER && files > filesBefore * LOST_SHARE,
  );
  return most.toSorted((a, b) => b.files - a.files)[0] ?? null;
}

function depth({ path }: DamagedFolder): number {
  return path === '' ? 0 : path.split('/').length;
}
