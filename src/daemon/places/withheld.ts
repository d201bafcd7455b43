/** Keeps secrets in environment variables to the agent itself: processes that it starts do not get them. */
import { homedir } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Redactor } from '../../base/redact.ts';
import { accessSecrets } from '../../config/access.ts';
import type { Environment, SecretContext } from '../../config/secret.ts';
import type { SecretReference, Settings } from '../../config/settings.ts';
import type { Destinations } from './destinations.ts';

const ALWAYS = ['HOLDFAST_PASSWORD'] as const;

export interface SecretParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** Removes variables from the process's own environment. */
  readonly forget: (names: readonly string[]) => void;
}

export interface AgentSecrets {
  readonly context: SecretContext;
  /** Environment of the processes that the agent starts; changes with `withhold`. */
  readonly childVariables: Environment;
  /** Removes the variables that these settings name as secrets, and makes the redactor learn the addresses for notices. */
  readonly withhold: (settings: Settings) => void;
}

export function agentSecrets({ environment, clock, redactor, forget }: SecretParts): AgentSecrets {
  const childVariables: Record<string, string | undefined> = { ...environment };
  const { learn } = redactor;
  return {
    context: { env: environment, childEnv: childVariables, home: homedir(), clock, learn },
    childVariables,
    withhold(settings) {
      const names = [...ALWAYS, ...variablesIn(settings)];
      for (const name of names) delete childVariables[name];
      forget(names);
      learnAddresses(settings, learn);
    },
  };
}

function variablesIn(settings: Settings): readonly string[] {
  return secretsOf(settings).flatMap((one) => ('env' in one ? [one.env] : []));
}

/** Every reference to a secret in the settings. */
export function secretsOf({ destinations, notices }: Settings): readonly SecretReference[] {
  const references: readonly (SecretReference | null | undefined)[] = [
    ...destinations.flatMap(({ passphrase, access }) => [passphrase, ...accessSecrets(access)]),
    notices.ntfy?.token,
    notices.webhook?.secret,
    notices.email?.password,
  ];
  return references.filter((one) => one !== null && one !== undefined);
}

/** Tells the redactor of every secret that a repository is opened with. */
export function learningSecrets(destinations: Destinations, { learn }: Redactor): Destinations {
  return {
    ...destinations,
    async open(place, signal) {
      const opened = await destinations.open(place, signal);
      const { secret } = opened;
      learn(secret.kind === 'passphrase' ? secret.text : secret.base64);
      return opened;
    },
  };
}

/** The address of a notice channel often is a secret: anybody who knows it can use it. */
function learnAddresses({ notices }: Settings, learn: Redactor['learn']): void {
  for (const url of [notices.healthchecks?.url, notices.ntfy?.url, notices.webhook?.url]) {
    const path = url === undefined || !URL.canParse(url) ? '' : new URL(url).pathname.slice(1);
    // A short path is an ordinary word, which must not be redacted everywhere.
    if (path.length >= 16) learn(path);
  }
}
