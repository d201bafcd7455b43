import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Small files that take long, and folders of such, as they call sweeps. */
const LONG = new Set(['fault', 'simulator']);

/**
 * Begins with the files that take long, so that no worker is left with one of them when the others have nothing more to
 * do. Where there are no figures of an earlier run the larger file comes first, and the longest of all is a small one.
 */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

function isLong({ moduleId, project }: TestSpecification): boolean {
  const [folder = ''] = relative(project.config.root, moduleId).split(sep);
  return LONG.has(folder);
}
