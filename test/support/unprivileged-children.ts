/** Programs that this process starts from now on may read and write only what their user may, even as root. */
import koffi from 'koffi';

const PR_CAPBSET_DROP = 24;
/** CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH. */
const READS_ALL = [1, 2] as const;

/** For the rest of the process, which must run no other tests. */
export function dropCapabilities(): void {
  if (process.getuid?.() !== 0) return;
  const prctl = koffi.load(null).func('int prctl(int option, unsigned long a, long b, long c, long d)') as (
    ...values: readonly number[]
  ) => number;
  for (const capability of READS_ALL)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) !== 0) throw new Error('prctl was refused');
}
