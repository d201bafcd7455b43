/** What the page has of an agent that has nothing to do: nothing is suggested, nothing kept, and nothing opens. */
import type { ProtectParts } from '../../src/api/page/protect-parts.ts';

export function testProtectParts(): ProtectParts {
  const kit = { state: 'none' as const, made_at: null, saved_at: null };
  return {
    suggestions: async () => await Promise.resolve({ home: '/home/ana', sources: [], disks: [] }),
    directories: async (path = '/home/ana') =>
      await Promise.resolve({ path, parent: null, home: '/home/ana', items: [], is_cut: false }),
    estimate: async ({ path }) =>
      await Promise.resolve({
        path,
        files: 0,
        directories: 0,
        bytes: 0,
        complete: true,
        unreadable: 0,
        excluded_files: 0,
        excluded: [],
        largest: [],
      }),
    destinations: async () => await Promise.resolve({ items: [] }),
    testDestination: async () =>
      await Promise.resolve({
        usable: true,
        findings: [],
        write_speed: null,
        read_speed: null,
        clock_skew_seconds: null,
      }),
    keepSecret: async () => await Promise.resolve({ file: '/state/secrets/x' }),
    isFreshSecret: () => false,
    recoveryKit: async () => await Promise.resolve(kit),
    recoveryKitText: async () => await Promise.resolve(undefined),
    confirmRecoveryKit: async () => await Promise.resolve(kit),
    checkPassphrase: async () => await Promise.resolve({ opens: false }),
  };
}
