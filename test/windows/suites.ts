/** Which suites run under Wine, and which cannot be tried there. A file that is in neither list has not been tried yet. */

/** Suites that hold for every system, or for Windows alone. */
export const SUITES: readonly string[] = [
  'unit/base/byte-path.test.ts',
  'unit/base/tree-path.test.ts',
  'unit/base/held-files.test.ts',
  'unit/base/units.test.ts',
  'unit/base/redact.test.ts',
  'unit/archiver/exclude-glob.test.ts',
  'unit/archiver/exclude-typed.test.ts',
  'unit/restorer/own-places.test.ts',
  'unit/restorer/selection.test.ts',
  'unit/format/omission.test.ts',
];

/** File, and what it needs that neither Windows nor Wine has. */
export const NOT_TRIED: Readonly<Record<string, string>> = {
  'unit/base/atomic-file.test.ts': 'expects POSIX modes of the files it makes',
  'unit/base/make-directories.test.ts': 'expects POSIX modes and links',
  'unit/base/program-call.test.ts': 'expects commands in the words of sh',
  'unit/cli/read-pipe.test.ts': 'makes named pipes of Unix',
  'unit/base/typed-path.test.ts': 'makes symbolic links, which Wine cannot',
  'fault/restore-folding-target.test.ts': 'replaces calls of the C library, which Windows does not have',
};
