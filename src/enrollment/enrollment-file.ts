/**
 * `enrollment.json` in the state directory: the Partner service that the device is enrolled with, its key, and the
 * signed plan. Readable for the agent's user only.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createPrivateFile, readPrivate } from '../api/access/private-file.ts';
import { writeFileAtomically } from '../base/atomic-file.ts';
import { causeText } from '../base/errno-words.ts';
import { StateError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { fieldOf, partnerAddress } from './ask-partner.ts';
import { type ServiceKey, serviceKeyOf } from './signed.ts';

export interface Enrollment {
  /** In the form that `partnerAddress` returns. */
  readonly address: string;
  readonly deviceId: string;
  readonly customerId: string;
  /** The name that the owner gave the device. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly enrolledAt: number;
  readonly serviceKey: ServiceKey;
  /** Authenticates the device to the service. */
  readonly deviceKey: string;
  /** A compact JWS. It is verified whenever it is read, as only the signature makes it valid. */
  readonly signedPlan: string;
}

const FILE = 'enrollment.json';
const VERSION = 1;
const MOST_BYTES = 65_536;
const hint = (): string =>
  `Restore it from a copy, or remove it and enroll again with a token from your partner: ${holdfast`enroll URL TOKEN`}`;

/**
 * The enrollment; undefined when the device is not enrolled.
 * @throws {StateError} when the file is open to others, not ours, or damaged
 */
export async function readEnrollment(stateDirectory: string): Promise<Enrollment | undefined> {
  const path = join(stateDirectory, FILE);
  const bytes = await readPrivate(path, ({ size }) => size <= MOST_BYTES, {
    wanted: 'a file of a few kilobytes',
    hint: hint(),
  });
  return bytes === undefined ? undefined : parsed(path, bytes.toString('utf8'));
}

/** Stores a new enrollment. Returns false when one exists already. @throws {StateError} WRITE_ERROR */
export async function createEnrollment(stateDirectory: string, enrollment: Enrollment): Promise<boolean> {
  return await createPrivateFile(join(stateDirectory, FILE), Buffer.from(textOf(enrollment)));
}

/** @throws {StateError} WRITE_ERROR */
export async function replaceEnrollment(stateDirectory: string, enrollment: Enrollment): Promise<void> {
  await writeFileAtomically(join(stateDirectory, FILE), textOf(enrollment));
}

/** @throws {StateError} WRITE_ERROR */
export async function removeEnrollment(stateDirectory: string): Promise<void> {
  const path = join(stateDirectory, FILE);
  try {
    await rm(path, { force: true });
  } catch (cause) {
    throw new StateError('WRITE_ERROR', `${path} cannot be removed: ${causeText(cause)}`, {
      hint: 'Check that the state directory is writable.',
      cause,
    });
  }
}

function textOf(enrollment: Enrollment): string {
  return `${JSON.stringify({ version: VERSION, ...enrollment }, undefined, 2)}\n`;
}

function parsed(path: string, text: string): Enrollment {
  const damaged = (cause?: unknown): StateError =>
    new StateError('STATE_DAMAGED', `${path} is damaged`, { hint: hint(), cause });
  try {
    const value: unknown = JSON.parse(text);
    const word = (name: string, form: RegExp): string => {
      const found = fieldOf(value, name);
      if (typeof found !== 'string' || !form.test(found)) throw damaged();
      return found;
    };
    const version = fieldOf(value, 'version');
    if (typeof version === 'number' && version > VERSION)
      throw new StateError('NEWER_STATE', `${path} was written by a newer version of Holdfast`, {
        hint: 'Install a newer version of Holdfast.',
      });
    const serviceKey = serviceKeyOf(fieldOf(value, 'serviceKey'));
    const enrolledAt = fieldOf(value, 'enrolledAt');
    if (serviceKey === undefined || typeof enrolledAt !== 'number') throw damaged();
    return {
      address: partnerAddress(word('address', /^https?:/)),
      deviceId: word('deviceId', DEVICE_ID),
      customerId: word('customerId', CUSTOMER_ID),
      name: word('name', /^.{1,200}$/su),
      enrolledAt,
      serviceKey,
      deviceKey: word('deviceKey', DEVICE_KEY),
      signedPlan: word('signedPlan', /^.{0,8192}$/s),
    };
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw damaged(error);
  }
}

export const DEVICE_ID = /^dev_[0-9A-HJKMNP-TV-Z]{26}$/;
export const CUSTOMER_ID = /^cus_[0-9A-HJKMNP-TV-Z]{26}$/;
export const DEVICE_KEY = /^hfd_[0-9A-Za-z]{36}$/;
