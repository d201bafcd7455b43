/** Manifests for package managers that download a finished archive: templates, filled with its checksum. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fill } from '../../src/cli/install/template.ts';
import { DOWNLOADS, HOMEPAGE, ROOT } from '../package/facts.ts';

/** Template -> file in the folder of the release. */
const MANIFESTS = {
  'homebrew/holdfast.rb': 'homebrew/holdfast.rb',
  'winget/version.yaml': 'winget/Holdfast.Holdfast.yaml',
  'winget/installer.yaml': 'winget/Holdfast.Holdfast.installer.yaml',
  'winget/locale.yaml': 'winget/Holdfast.Holdfast.locale.en-US.yaml',
} as const;

/** Checksums that a template asks for: `{{SUM_MACOS_ARM}}` is that of the archive for macos-arm64. */
export function fillManifests(output: string, version: string, sums: ReadonlyMap<string, string>): void {
  const archives = [...sums].map(([name, sum]) => {
    const [, platform = name] =
      new RegExp(`^holdfast-${version}-(.+?)\\.(?:tar\\.gz|zip|msi)$`).exec(name) ?? [];
    const kind = name.endsWith('.msi') ? 'MSI' : nameOf(platform);
    return [`SUM_${kind}`, sum] as const;
  });
  const facts = {
    VERSION: version,
    HOMEPAGE,
    DOWNLOADS: `${DOWNLOADS}/${version}`,
    ...Object.fromEntries(archives),
  };
  for (const [template, name] of Object.entries(MANIFESTS)) {
    const text = readFileSync(path.join(ROOT, 'service', template), 'utf8');
    const file = path.join(output, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(
      file,
      fill(text, facts, (value) => value),
    );
  }
}

/** Names in templates have letters alone. */
function nameOf(platform: string): string {
  return platform.replace('x64', 'intel').replace('arm64', 'arm').replaceAll('-', '_').toUpperCase();
}
