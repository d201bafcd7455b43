/**
 * Speaks with the service manager of Windows, which starts services as ordinary processes and expects them to report
 * within seconds. The manager calls back on threads of its own. koffi runs these calls on the thread of JavaScript, so
 * nothing here waits for an answer of the manager.
 */
import { BugError, StateError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { loadKoffi } from '../base/windows-access.ts';

export interface ServiceHost {
  /** The service does its work from now on. */
  running(): void;
  /** It is ending, as it was told, or of itself. */
  stopping(): void;
  /** It has ended. Without this message the manager takes the end of the process for a crash. */
  stopped(exitCode: number): void;
}

type Report = readonly [state: number, accepts: number, waitMs: number, exitCode: number];

const WIN32_OWN_PROCESS = 0x10;
const STATE = { stopped: 1, startPending: 2, stopPending: 3, running: 4 } as const;
const CONTROL = { stop: 1, interrogate: 4, shutdown: 5 } as const;
const ACCEPT_STOP = 0x1;
const ACCEPT_SHUTDOWN = 0x4;
const NO_ERROR = 0;
const ERROR_CALL_NOT_IMPLEMENTED = 120;
const ERROR_SERVICE_SPECIFIC_ERROR = 1066;
/** Milliseconds that the agent may take to begin or end, before the manager gives it up. */
const PATIENCE_MS = 120_000;

/** The seven numbers of a SERVICE_STATUS. */
export function serviceStatus([state, accepts, waitMs, exitCode]: Report, checkpoint: number): Buffer {
  const isPending = state === STATE.startPending || state === STATE.stopPending;
  const numbers = [
    WIN32_OWN_PROCESS,
    state,
    accepts,
    exitCode === 0 ? NO_ERROR : ERROR_SERVICE_SPECIFIC_ERROR,
    exitCode,
    isPending ? checkpoint : 0,
    waitMs,
  ];
  const bytes = Buffer.allocUnsafeSlow(28);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, 4 * index);
  return bytes;
}

/**
 * Connects this process, which the manager has started as a service, to the manager.
 * @param stop called once the manager wants the service to end
 * @param trouble receives the error of a process that the manager did not start
 */
export function connectToServiceManager(
  name: string,
  stop: () => void,
  trouble: (error: StateError) => void,
): ServiceHost {
  const koffi = loadKoffi();
  const advapi = koffi.load('advapi32.dll');
  const getLastError = koffi.load('kernel32.dll').func('uint32 GetLastError()');
  const register = advapi.func('intptr RegisterServiceCtrlHandlerExW(str16, uintptr, intptr)');
  const setServiceStatus = advapi.func('int SetServiceStatus(intptr, void *)');
  const dispatch = advapi.func('int StartServiceCtrlDispatcherW(void *)');

  let handle = 0;
  let checkpoint = 0;
  let last: Report = [STATE.startPending, 0, PATIENCE_MS, 0];

  const report = (next: Report): void => {
    last = next;
    checkpoint += 1;
    // The manager may not have asked yet: it is told when it does.
    if (handle !== 0) setServiceStatus(handle, serviceStatus(next, checkpoint));
  };
  const control = (code: number): number => {
    if (code === CONTROL.stop || code === CONTROL.shutdown) {
      report([STATE.stopPending, 0, PATIENCE_MS, 0]);
      // After this call: its answer is what the manager waits for.
      setImmediate(stop);
      return NO_ERROR;
    }
    return code === CONTROL.interrogate ? NO_ERROR : ERROR_CALL_NOT_IMPLEMENTED;
  };
  const controlled = koffi.register(
    control,
    koffi.pointer(koffi.proto('uint32 HoldfastServiceControl(uint32, uint32, intptr, intptr)')),
  );
  const main = (): void => {
    handle = Number(register(name, controlled, 0));
    report(last);
  };
  const entered = koffi.register(
    main,
    koffi.pointer(koffi.proto('void HoldfastServiceMain(uint32, intptr)')),
  );

  const title = Buffer.from(`${name}\0`, 'utf16le');
  // One entry and the end of the table: name and function each.
  const table = Buffer.allocUnsafeSlow(512).fill(0);
  const named = Buffer.allocUnsafeSlow(512).fill(0);
  title.copy(named);
  table.writeBigUInt64LE(koffi.address(named), 0);
  table.writeBigUInt64LE(entered, 8);
  // Occupies one thread of Node's pool until the service has ended.
  dispatch.async(table, (error: Error | null, done: number) => {
    // Kept until here, as the manager reads them meanwhile.
    if (named.length === 0 || (error === null && done !== 0)) return;
    trouble(
      new StateError('NOTIFY_FAILED', `The service manager of Windows does not answer (${getLastError()})`, {
        hint: `Only the service manager can start an agent in this way. Start one with: ${holdfast`start`}`,
        cause: error,
      }),
    );
  });
  return {
    running: () => report([STATE.running, ACCEPT_STOP | ACCEPT_SHUTDOWN, 0, 0]),
    stopping() {
      if (last[0] !== STATE.stopPending) report([STATE.stopPending, 0, PATIENCE_MS, 0]);
    },
    stopped: (exitCode) => report([STATE.stopped, 0, 0, exitCode]),
  };
}

const TOKEN_ADJUST_PRIVILEGES = 0x20;
const SE_PRIVILEGE_ENABLED = 0x2;

/**
 * Lets this process and its children read every file, whatever its permissions are, if their user has the right to.
 * Node.js opens files in the way that this takes (FILE_FLAG_BACKUP_SEMANTICS).
 * @returns whether it has the right
 */
export function enableBackupPrivilege(): boolean {
  const koffi = loadKoffi();
  const advapi = koffi.load('advapi32.dll');
  const kernel = koffi.load('kernel32.dll');
  const openProcessToken = advapi.func('int OpenProcessToken(intptr, uint32, _Out_ intptr *)');
  const lookup = advapi.func('int LookupPrivilegeValueW(str16, str16, void *)');
  const adjust = advapi.func('int AdjustTokenPrivileges(intptr, int, void *, uint32, void *, void *)');
  const getLastError = kernel.func('uint32 GetLastError()');
  const closeHandle = kernel.func('int CloseHandle(intptr)');
  const token: [number] = [0];
  if (openProcessToken(-1, TOKEN_ADJUST_PRIVILEGES, token) === 0)
    throw new BugError(`The token of this process cannot be opened (${getLastError()})`);
  try {
    // TOKEN_PRIVILEGES with one entry: count, identifier, attributes.
    const bytes = Buffer.allocUnsafeSlow(256).fill(0);
    bytes.writeUInt32LE(1, 0);
    bytes.writeUInt32LE(SE_PRIVILEGE_ENABLED, 12);
    if (lookup(null, 'SeBackupPrivilege', bytes.subarray(4)) === 0) return false;
    // It succeeds as well when the user lacks the right; only the last error tells.
    return adjust(token[0], 0, bytes, 0, null, null) !== 0 && getLastError() === 0;
  } finally {
    closeHandle(token[0]);
  }
}
