/** Command lines that show how a program uses the Desktop API. */
import type { NewCredential } from '../../../api/schemas/page/settings.ts';
import { shellWord } from '../../components/shell-word.ts';

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
