/** Shows one pair of credentials: its purpose, its last use, and buttons to replace its secret and to revoke it. */
import type { JSX } from 'preact';
import type { Credential, NewCredential } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { formatAge, formatDay } from '../../language/format.ts';
import { t } from '../../language/language.ts';

export interface CredentialRowFacts {
  readonly credential: Credential;
  readonly onMade: (made: NewCredential) => void;
  readonly onRevoked: () => void;
}

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
