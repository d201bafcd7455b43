/** The style sheet and icon of the pages, from the build. */
import { consolePageFiles, type PageFile } from '../../api/page/page-files.ts';

interface ConsoleFiles {
  readonly style: PageFile;
  readonly icon: PageFile;
}

let known: ConsoleFiles | undefined;

/** @throws {StateError} READ_ERROR when the program was not built completely */
export function consoleFiles(): ConsoleFiles {
  known ??= consolePageFiles();
  return known;
}
