/** Checks that the native packages work. */
import { npmHere } from '../../base/holdfast-command.ts';
import { randomBytes } from 'node:crypto';
import { ok, problem, warning, type Finding } from '../../daemon/doctor/finding.ts';
import { tryDatabase, tryWatching } from '../../daemon/doctor/machine.ts';

/** Each native package does its work once. */
const NATIVE: readonly (readonly [name: string, tryOut: () => Promise<void>])[] = [
  [
    'compression',
    async () => {
      const { SegmentCompressor, DEFAULT_COMPRESSION } = await import('../../codec/compress.ts');
      void new SegmentCompressor(DEFAULT_COMPRESSION, 1);
    },
  ],
  [
    'hashing',
    async () => {
      const { plainChecksum } = await import('../../codec/hash.ts');
      plainChecksum(Buffer.alloc(1), Buffer.alloc(1));
    },
  ],
  [
    'passphrases',
    async () => {
      const { argon2id } = await import('../../codec/kdf.ts');
      await argon2id(randomBytes(8), randomBytes(16), { m: 64, t: 1, p: 1 });
    },
  ],
  ['database', tryDatabase],
  ['watching', tryWatching],
];

export async function checkNative(): Promise<Finding> {
  const broken: string[] = [];
  for (const [name, tryOut] of NATIVE) {
    try {
      await tryOut();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      broken.push(`${name} (${said.split('\n')[0]})`);
    }
  }
  if (broken.length > 0)
    return problem(
      'native modules',
      `Not usable: ${broken.join('; ')}`,
      `Reinstall Holdfast for this system: ${npmHere('ci')}`,
    );
  const { nativeMissing } = await import('../../system/native.ts');
  if (nativeMissing !== '')
    return warning(
      'native modules',
      `Extended attributes and some metadata are not backed up: ${nativeMissing}`,
      `Reinstall Holdfast for this system: ${npmHere('ci')}`,
    );
  const { by, version } = (await import('../../codec/zstd-choice.ts')).zstdFacts();
  return ok('native modules', `${NATIVE.length + 1} load and work; zstd ${version} by ${by}`);
}
