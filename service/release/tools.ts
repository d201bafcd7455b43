/** The programs of Debian that packages are made with. Without one of them a release would end half done, or with other bytes. */
import { spawnSync } from 'node:child_process';

/** Kind of package -> program -> Debian's package of it. What every Debian has is not named. */
const TOOLS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Binaries that are not stripped work, and are others.
  archive: { strip: 'binutils', 'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu', zip: 'zip' },
  deb: { strip: 'binutils', 'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu', 'dpkg-deb': 'dpkg' },
  rpm: { strip: 'binutils', 'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu', rpmbuild: 'rpm' },
  msi: { wixl: 'wixl', msibuild: 'msitools', faketime: 'faketime' },
};

/** Debian's packages that these kinds need, of all or of those whose program is not here. */
export function toolPackages(
  kinds: readonly string[],
  wanted: (program: string) => boolean = () => true,
): readonly string[] {
  const packages = kinds
    .flatMap((kind) => Object.entries(TOOLS[kind] ?? {}))
    .filter(([program]) => wanted(program))
    .map(([, name]) => name);
  return [...new Set(packages)].sort();
}

/** Those that have to be installed before these kinds can be made. */
export function missingTools(kinds: readonly string[]): readonly string[] {
  return toolPackages(kinds, (program) => !isInstalled(program));
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' }).status === 0;
}
