/** What the pages are made of beside their text, as the build has left it. */
import { consolePageFiles, type PageFile } from '../../api/page/page-files.ts';

interface ConsoleFiles {
  readonly style: PageFile;
  readonly icon: PageFile;
}

let known: ConsoleFiles | undefined;

/** @throws {StateError} READ_ERROR when the program was not built whole */
export function consoleFiles(): ConsoleFiles {
  known ??= consolePageFiles();
  return known;
}
