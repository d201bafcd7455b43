/** The style sheet and icon of the pages, from the build. */
import { type ConsolePageFiles, consolePageFiles } from '../../api/framework/page-files.ts';

let known: ConsolePageFiles | undefined;

/** @throws {StateError} READ_ERROR when the program was not built completely */
export function consoleFiles(): ConsolePageFiles {
  known ??= consolePageFiles();
  return known;
}
