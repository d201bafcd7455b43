/** What schemathesis finds fault with and is right all the same. */
import type { Finding } from './findings.ts';

export interface Excuse extends Partial<Pick<Finding, 'check' | 'title' | 'code'>> {
  readonly field?: string | RegExp;
  readonly operation?: RegExp;
  readonly reason: string;
}

const REJECTED = { check: 'positive_data_acceptance' } as const;
const SETTINGS = { ...REJECTED, operation: /^PUT \/settings$/ } as const;

export const EXCUSED: readonly Excuse[] = [
  {
    ...REJECTED,
    code: 'INVALID_CURSOR',
    reason: 'No schema tells a cursor that was given out, with these filters, from any other text.',
  },
  {
    ...REJECTED,
    code: 'IDEMPOTENCY_KEY_REUSED',
    reason: 'Whether a key came before with another body is known to the service alone.',
  },
  {
    ...REJECTED,
    code: 'INVALID_SOURCE',
    reason:
      'Whether a path is there and can be read is known to the machine alone, and the contract has this code for it.',
  },
  {
    ...REJECTED,
    code: 'INVALID_TARGET',
    reason: 'Whether files can be written to a path is known to the machine alone.',
  },
  {
    ...REJECTED,
    code: 'INVALID_DESTINATION',
    reason:
      'Which names destinations have is in the settings, and whether a URL leads to one is known once it is asked.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: 'path_b64',
    operation: /^GET \/files/,
    reason:
      'OpenAPI has no word for parameters of which one is given at most; the description of path_b64 has.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: /^paths\.\d+\.path_b64$/,
    operation: /^POST \/restore$/,
    reason:
      'No pattern of base64 tells whether one of its bytes is zero; the description of path_b64 says so.',
  },
  {
    ...REJECTED,
    code: 'MISSING_FIELD',
    field: 'path',
    operation: /^GET \/files\/(content|versions)$/,
    reason:
      'OpenAPI has no word for parameters of which one is needed; the descriptions of both routes have.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: 'stored_by',
    operation: /^POST \/restore$/,
    reason:
      'In a sequence the id of an earlier answer replaces "latest", the only id that stored_by goes with.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: /^(source|stored_by)$/,
    operation: /^GET \/snapshots\/\{id\}$/,
    reason: 'OpenAPI has no word for a parameter that goes with one id alone; the description of source has.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: 'until',
    operation: /^POST \/pause$/,
    reason: 'Whether a time is still to come is told by the clock.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: 'for',
    operation: /^POST \/pause$/,
    reason:
      'How long a duration is, in whichever unit, is no matter of a pattern; the description has its bounds.',
  },
  {
    ...SETTINGS,
    code: 'REVISION_MISMATCH',
    reason: 'Which revision the settings have is known to the agent alone.',
  },
  {
    ...SETTINGS,
    code: 'INVALID_JSON',
    reason:
      "The field '__proto__' is refused in every body, however deep it stands; only the schema of settings allows fields that it does not name.",
  },
  ...['UNKNOWN_FIELD', 'MISSING_FIELD', 'INVALID_REQUEST'].map((code) => ({
    ...SETTINGS,
    code,
    reason: 'What settings may hold is in docs/config.schema.json, which the document does not repeat.',
  })),
  {
    check: 'response_schema_conformance',
    title: 'SSE event violates schema',
    operation: /\/events$/,
    reason:
      'In OpenAPI 3.1 a stream is one text, as the document says; schemathesis takes its schema for that of each event, which tests in test/contract look at.',
  },
  {
    ...REJECTED,
    code: 'ENROLLMENT_TOKEN_INVALID',
    reason: 'Which tokens are good, and for how long, is known to the service alone.',
  },
  {
    ...REJECTED,
    code: 'INVALID_WEBHOOK_URL',
    field: /^(local_name|not_a_url|port|ip_literal)$/,
    reason: 'Which names are those of hosts on the internet is a list, and no pattern.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: /^(name|external_id|metadata)$/,
    operation: /\/(customers|enroll)/,
    reason: 'Which characters have something to see in them is a table of Unicode, and no pattern.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    operation: /GET (?:\/customers\/\{id\})?\/usage(?:\/customers)?$/,
    reason: 'How many days lie between two days is no matter of a schema.',
  },
  {
    ...REJECTED,
    code: 'INVALID_REQUEST',
    field: '',
    operation: /^POST \/webhooks$/,
    reason: 'How many webhooks there are, and that there may be ten, is known to the service alone.',
  },
  {
    ...REJECTED,
    code: 'QUOTA_EXCEEDED',
    reason: 'How many machines a customer has, and a plan takes, is known to the service alone.',
  },
];

export function excuseOf(finding: Finding, excuses: readonly Excuse[] = EXCUSED): Excuse | undefined {
  return excuses.find(
    ({ check, title, code, field, operation }) =>
      (check === undefined || check === finding.check) &&
      (title === undefined || title === finding.title) &&
      (code === undefined || code === finding.code) &&
      (field === undefined ||
        (typeof field === 'string' ? field === finding.field : field.test(finding.field))) &&
      (operation === undefined || operation.test(finding.operation)),
  );
}
