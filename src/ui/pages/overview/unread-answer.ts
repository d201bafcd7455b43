/** Changes the settings by the user's decision about a file that cannot be read. */

export type Answer = 'leave out' | 'accept';

interface SourceOfSettings {
  readonly path: string;
  readonly exclude: { readonly patterns: readonly string[]; readonly [other: string]: unknown };
  readonly acceptUnreadable: readonly string[];
  readonly [other: string]: unknown;
}

export interface SourcesOfSettings {
  readonly sources: readonly SourceOfSettings[];
  readonly [other: string]: unknown;
}

/** The settings with the decision applied to every source that contains the file. */
export function settingsAnswering(
  settings: SourcesOfSettings,
  file: string,
  answer: Answer,
): SourcesOfSettings {
  return { ...settings, sources: settings.sources.map((source) => answered(source, file, answer)) };
}

function answered(source: SourceOfSettings, file: string, answer: Answer): SourceOfSettings {
  const root = source.path.endsWith('/') ? source.path : `${source.path}/`;
  if (!file.startsWith(root)) return source;
  if (answer === 'accept')
    return { ...source, acceptUnreadable: [...new Set([...source.acceptUnreadable, file])] };
  const pattern = patternOf(file.slice(root.length));
  const patterns = [...new Set([...source.exclude.patterns, pattern])];
  return { ...source, exclude: { ...source.exclude, patterns } };
}

/** The pattern, as in .gitignore: anchored at the source, with special characters escaped. */
function patternOf(below: string): string {
  return `/${below.replaceAll(/[\\*?[\]]/g, String.raw`\$&`).replace(/ $/, String.raw`\ `)}`;
}
