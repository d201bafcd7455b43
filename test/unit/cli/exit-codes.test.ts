import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';

import {
  BugError,
  DestinationError,
  RepositoryError,
  RequestError,
  SourceError,
  StateError,
} from '../../../src/base/errors.ts';
import { EXIT, describeError, exitCodeOf, hintOf } from '../../../src/cli/command/exit-codes.ts';

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, errno: -1 });
}

describe('the exit code', () => {
  it.each<[unknown, number]>([
    [new RepositoryError('NO_REPOSITORY', 'none'), EXIT.noRepository],
    [new RepositoryError('REPOSITORY_LOCKED', 'locked'), EXIT.locked],
    [new RepositoryError('WRONG_PASSPHRASE', 'wrong'), EXIT.wrongPassphrase],
    [new RepositoryError('CORRUPT_DATA', 'damaged'), EXIT.failed],
    [new RequestError('INVALID_SOURCE', 'absent'), EXIT.usage],
    [new DestinationError('full', 'full'), EXIT.failed],
    [new SourceError('READ_ERROR', 'unreadable'), EXIT.failed],
    [new StateError('STATE', 'unreadable'), EXIT.failed],
    [new BugError('impossible'), EXIT.failed],
    [new DOMException('This operation was aborted', 'AbortError'), EXIT.interrupted],
    [new CommanderError(1, 'commander.unknownOption', "error: unknown option '--x'"), EXIT.usage],
    [new CommanderError(0, 'commander.helpDisplayed', '(outputHelp)'), EXIT.ok],
    [new CommanderError(0, 'commander.version', '0.1.0'), EXIT.ok],
    [new TypeError('x is not a function'), EXIT.failed],
    ['a string', EXIT.failed],
    [undefined, EXIT.failed],
  ])('of %o is %i', (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  it('goes by the code of an error sent from another thread', () => {
    const { message, code, side } = new RepositoryError('REPOSITORY_LOCKED', 'locked');
    expect(exitCodeOf(Object.assign(new Error(message), { code, side }))).toBe(EXIT.locked);
    expect(exitCodeOf({ message, code, side: 'request' })).toBe(EXIT.usage);
  });
});

describe('the message', () => {
  it('says what happened, then why, then what to do', () => {
    const error = new DestinationError('unreachable', 'Cannot reach sftp://nas/backups', {
      hint: 'Check that the server is on.',
      cause: systemError('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.2:22'),
    });
    expect(describeError(error, {})).toBe(
      'Cannot reach sftp://nas/backups\n  because: 10.0.0.2:22: the connection was refused (ECONNREFUSED)\nCheck that the server is on.',
    );
  });

  it('says of damage without a hint of its own how it is looked into', () => {
    const damage = new RepositoryError('CORRUPT_DATA', 'packs/ab is cut short');
    expect(describeError(damage, {})).toMatch(/^packs\/ab is cut short\nTo find out .*check --read-data$/);
    expect(hintOf(damage)).toContain('check --read-data');
    const told = new RepositoryError('CORRUPT_DATA', 'No key slot', { hint: 'Get the kit.' });
    expect(hintOf(told)).toBe('Get the kit.');
    expect(hintOf(new StateError('CORRUPT_DATA', 'of another side'))).toBe('');
  });

  it('keeps to itself what a library says, also of what the system has said', () => {
    const inner = systemError('ECONNRESET', 'read ECONNRESET');
    const cause = new TypeError('Invalid RFC-7231 date-time value', { cause: inner });
    const error = new DestinationError('unreachable', 'Cannot read it', { hint: 'Try again.', cause });
    expect(describeError(error, {})).toBe(
      'Cannot read it\n  because: the other side closed the connection (ECONNRESET)\nTry again.',
    );
  });

  it('leaves out causes that add nothing', () => {
    const inner = systemError('ENOENT', "ENOENT: no such file, open '/a'");
    const middle = new StateError('Y', 'no such file or directory (enoent)', { cause: inner });
    expect(
      describeError(
        new StateError('X', 'Cannot open: no such file or directory (ENOENT)', { cause: middle }),
        {},
      ),
    ).toBe('Cannot open: no such file or directory (ENOENT)');
  });

  it('tells what the system says in words', () => {
    const cause = systemError('EEXIST', "EEXIST: file already exists, open '/tmp/a'");
    expect(describeError(new StateError('X', 'Cannot make it', { cause }), {})).toBe(
      'Cannot make it\n  because: something with that name already exists (EEXIST)',
    );
  });

  it('stops at causes in a circle, and after a few', () => {
    const circle: Error & { cause?: unknown } = new StateError('X', 'a');
    circle.cause = new StateError('X', 'b', { cause: circle });
    expect(describeError(new StateError('X', 'Top', { cause: circle }), {})).toBe(
      'Top\n  because: a\n  because: b',
    );
    let chain = new StateError('X', 'end 0');
    for (let n = 1; n < 9; n += 1) chain = new StateError('X', `step ${n}`, { cause: chain });
    expect(describeError(new StateError('X', 'Top', { cause: chain }), {}).split('\n')).toHaveLength(4);
  });

  it('speaks for a failed connection that has no message of its own', () => {
    const refused = new AggregateError([
      systemError('ECONNREFUSED', 'connect ECONNREFUSED ::1:80'),
      systemError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:80'),
    ]);
    expect(
      describeError(new DestinationError('unreachable', 'Cannot reach it', { cause: refused }), {}),
    ).toBe(
      'Cannot reach it\n  because: ::1:80: the connection was refused (ECONNREFUSED); 127.0.0.1:80: the connection was refused (ECONNREFUSED)',
    );
    expect(describeError(systemError('EIO', ''), {})).toBe('the drive or share reported an error (EIO)');
  });

  it.each([new TypeError('x is not a function'), new BugError('x is not a function')])(
    'calls a defect a defect: %o',
    (error) => {
      expect(describeError(error, {})).toBe(
        'Unexpected error: x is not a function\nThis is a bug in Holdfast. Please run the command again with HOLDFAST_DEBUG=1 and report the output.',
      );
    },
  );

  it('is one word for an interruption', () => {
    expect(describeError(new DOMException('This operation was aborted', 'AbortError'), {})).toBe(
      'Interrupted',
    );
  });

  it('copes with things that are no errors', () => {
    expect(describeError('plain text', {})).toContain('Unexpected error: plain text');
    expect(describeError(undefined, {})).toContain('Unexpected error: a thrown undefined');
    expect(describeError({ message: 'from a thread', side: 'state' }, {})).toBe('from a thread');
  });

  it('lets no name in it drive the terminal', () => {
    const error = new SourceError('READ_ERROR', 'Cannot read /a\n\u001b[2Jb', { hint: '\u202e' });
    expect(describeError(error, {})).toBe('Cannot read /a\\n\\x1b[2Jb\n\\u202e');
  });

  it('has the stacks only with HOLDFAST_DEBUG', () => {
    const error = new StateError('X', 'Top', { cause: new TypeError('deep \u001b') });
    for (const env of [{}, { HOLDFAST_DEBUG: '' }, { HOLDFAST_DEBUG: '0' }]) {
      expect(describeError(error, env)).not.toContain('    at ');
    }
    const shown = describeError(error, { HOLDFAST_DEBUG: '1' });
    expect(shown).toMatch(/\n {4}at .*exit-codes\.test\.ts/);
    expect(shown).toContain('\ncaused by TypeError: deep \\x1b\n');
  });
});
