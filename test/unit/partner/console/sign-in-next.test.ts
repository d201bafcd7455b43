import { expect, test } from 'vitest';
import { safeNext } from '../../../../src/partner/console/sign-in.tsx';

test.each([
  '/settings/usage',
  '/settings/customers/01ABC-x_y',
  '/settings/usage?days=90&before=a-b_c',
  '/settings',
])('after signing in %s is gone on to', (next) => expect(safeNext(next)).toBe(next));

test.each([
  '/settings/../../x',
  '/settings/..',
  '/settings/./x',
  '/settings//evil.example',
  '//evil.example/settings/x',
  '/\\evil.example',
  '\\\\evil.example',
  'https://evil.example/settings/x',
  'javascript:alert(1)',
  '/settings/%2e%2e/%2e%2e/x',
  '/settings/%2F%2Fevil.example',
  '/settings/x\r\nLocation: //evil.example',
  '/settings\n//evil.example',
  '/settings/x#@evil.example',
  '/settings-of-others',
  '/api/partner/v1/account',
  '/settings/usage?next=//evil.example',
  `/settings/${'a/'.repeat(200)}!`,
])('after signing in %j leads to the settings alone', (next) => expect(safeNext(next)).toBe('/settings'));
