import type { Notice } from '../../../src/notify/notice.ts';

/** A failed backup; `facts` change it. */
export function sampleNotice(facts: Partial<Notice> = {}): Notice {
  return {
    id: 'msg_0001',
    kind: 'backup.failed',
    at: Date.parse('2026-11-21T02:31:07.120Z'),
    host: 'workshop',
    source: '/home/ada',
    destination: 'nas',
    job: {
      id: 'bkp_01JD0000000000000000000000',
      durationMs: 12_500,
      exitStatus: null,
      errorCode: 'DESTINATION_UNREACHABLE',
    },
    text: 'The destination nas cannot be reached. Check the network.',
    log: ['first line', 'last line'],
    stillFailing: [],
    ...facts,
  };
}
