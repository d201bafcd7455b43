/** Which entries of a source the exclude rules leave out. */
import type { ByteString } from '../../base/byte-path.ts';
import { createExcluder, type ExcludeOptions, type Excluder } from '../../exclude/excluder.ts';
import type { ArchiveObserver } from '../report/observer.ts';
import type { SourceOutcomes } from '../report/source-outcomes.ts';
import { readRuleFile } from './rule-files.ts';

/** Makes the exclude rules of one source root. Told when they leave it out, although it was named. */
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
