/** Creates the exclude rules of each source. */
import type { ByteString } from '../../base/byte-path.ts';
import { createExcluder, type ExcludeOptions, type Excluder } from '../../exclude/excluder.ts';
import type { ArchiveObserver } from '../report/observer.ts';
import type { SourceOutcomes } from '../report/source-outcomes.ts';
import { readRuleFile } from './rule-files.ts';

/** Returns a function that creates the rules of one source root, and reports a source that they leave out as a whole. */
export function excluderMaker(exclude: ExcludeOptions, observer: ArchiveObserver, outcomes: SourceOutcomes) {
  return (path: ByteString, kind: string, device: number): Excluder => {
    const excluder = createExcluder(
      exclude,
      { root: path, kind: kind === 'file' || kind === 'directory' ? kind : 'other', device },
      { read: readRuleFile, onError: (error) => observer.ruleProblem(error) },
    );
    const { rootDecision } = excluder;
    if (rootDecision.excluded) outcomes.sourceLeftOut(path, rootDecision);
    return excluder;
  };
}
