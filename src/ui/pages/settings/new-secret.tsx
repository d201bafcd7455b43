/** Shows new credentials: the only time that their secret is visible. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { NewCredential } from '../../../api/schemas/page/settings.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Own } from '../../components/own-text.tsx';
import { Secret } from '../../components/secret.tsx';
import { t } from '../../language/language.ts';
import { firstCalls } from './credential-commands.ts';

export interface NewSecretFacts {
  readonly made: NewCredential;
  readonly onDone: () => void;
}

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
