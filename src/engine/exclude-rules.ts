/** Converts exclude rules of the settings into those of a walk. */
import { parseMarker } from '../exclude/tags.ts';
import type { ExcludeOptions } from '../exclude/excluder.ts';
import { bytesOfText } from '../base/byte-path.ts';
import { typedPattern } from '../exclude/patterns.ts';
import type { EngineJob } from './protocol.ts';

/** The rules of the source, followed by those of the job, which take precedence. */
export function excludeOf(
  rules: EngineJob['exclude'],
  more: readonly string[],
  never: ExcludeOptions['never'],
): ExcludeOptions {
  const setting = (from: string) => (pattern: string) => ({ pattern: typedPattern(pattern), from });
  return {
    patterns: [...rules.patterns.map(setting('settings')), ...more.map(setting('the backup request'))],
    ignoreFiles: rules.ignoreFiles.map(bytesOfText),
    excludeCaches: rules.caches,
    markers: rules.ifPresent.map((marker) => parseMarker(bytesOfText(marker))),
    largerThan: rules.largerThan ?? undefined,
    oneFileSystem: rules.oneFileSystem,
    never,
  };
}
