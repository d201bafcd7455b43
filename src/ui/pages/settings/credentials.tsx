/** Shows credentials of programs: those that exist, with buttons to replace and revoke them, and new ones, the only time that their secret is visible. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Credential, NewCredential } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { shellWord } from '../../agent/program.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/command.tsx';
import { Own, Secret } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { formatAge, formatDay } from '../../language/format.ts';
import { t } from '../../language/language.ts';

export interface CredentialRowFacts {
  readonly credential: Credential;
  readonly onMade: (made: NewCredential) => void;
  readonly onRevoked: () => void;
}

/** Shows one pair of credentials: its purpose, its last use, and buttons to replace its secret and to revoke it. */
export function CredentialRow({ credential, onMade, onRevoked }: CredentialRowFacts): JSX.Element {
  const { api_key: key, name, created_at: made, last_used_at: used } = credential;
  const path = `/credentials/${encodeURIComponent(key)}`;
  const rotate = useAction(async () => onMade(await ask<NewCredential>('POST', `${path}/rotate`)));
  const revoke = useAction(async () => {
    await ask('DELETE', path);
    onRevoked();
  });
  const { access } = t;
  return (
    <li class="job-row">
      <div class="job-head">
        <strong>
          <Own>{name}</Own>
        </strong>
        <span class="quiet small-text">
          {used === null ? access.neverUsed : access.used(formatAge(used))}
        </span>
      </div>
      <p class="quiet small-text">
        <code>{key}</code> · {access.madeAt(formatDay(made))}
      </p>
      <Actions>
        <AskFirst
          look="plain"
          label={
            <>
              {access.rotate}
              <Of name={name} />
            </>
          }
          question={access.rotateQuestion}
        >
          <Button type="button" disabled={rotate.isBusy} onClick={() => void rotate.run()}>
            {access.rotateDo}
          </Button>
        </AskFirst>
        <AskFirst
          look="plain danger"
          label={
            <>
              {access.revoke}
              <Of name={name} />
            </>
          }
          question={access.revokeQuestion}
        >
          <Button type="button" look="danger" disabled={revoke.isBusy} onClick={() => void revoke.run()}>
            {access.revokeDo}
          </Button>
        </AskFirst>
      </Actions>
      <Problem error={rotate.problem ?? revoke.problem} />
    </li>
  );
}

/** Says for screen readers which credentials a button is for. */
function Of({ name }: { readonly name: string }): JSX.Element {
  return (
    <span class="unseen">
      {' '}
      <Own>{name}</Own>
    </span>
  );
}

export interface NewSecretFacts {
  readonly made: NewCredential;
  readonly onDone: () => void;
}

/** Shows new credentials: the only time that their secret is visible. */
export function NewSecret({ made, onDone }: NewSecretFacts): JSX.Element {
  const { access } = t;
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), [made]);
  const calls = firstCalls(made, location.origin);
  return (
    <Card className="new-secret" label={access.made}>
      <h2 ref={title} tabIndex={-1}>
        {access.madeFor} <Own>{made.name}</Own>
      </h2>
      <p>
        <strong>{access.once}</strong> {access.onceWhere}
      </p>
      <h3>{access.key}</h3>
      <Secret label={access.key}>{made.api_key}</Secret>
      <CopyButton text={made.api_key} label={access.key} />
      <h3>{access.secret}</h3>
      <Secret label={access.secret}>{made.secret}</Secret>
      <CopyButton text={made.secret} label={access.secret} />
      <h3>{access.tryIt}</h3>
      <p class="quiet small-text">{access.tryItWhat}</p>
      <pre>{calls.join('\n')}</pre>
      <CopyButton text={calls.join('\n')} label={access.tryIt} />
      <p>
        <Button type="button" look="main-action" onClick={onDone}>
          {access.kept}
        </Button>
      </p>
    </Card>
  );
}

/** Gets a token with new credentials, and uses it to ask for the agent's status. */
export function firstCalls(
  { api_key: key, secret }: Pick<NewCredential, 'api_key' | 'secret'>,
  origin: string,
): readonly string[] {
  const body = shellWord(JSON.stringify({ api_key: key, secret }));
  return [
    `TOKEN=$(curl -s ${origin}/v1/auth/token -H 'Content-Type: application/json' -d ${body} | sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')`,
    `curl -s ${origin}/v1/status -H "Authorization: Bearer $TOKEN"`,
  ];
}
