/** The routes of the page's settings, API access, account and support. */
import type { ApiApp } from '../framework/route.ts';
import { type AccountParts, accountRoutes } from './account-routes.ts';
import { type CredentialParts, credentialRoutes } from './credential-routes.ts';
import { type PreviewParts, previewRoutes } from './preview-routes.ts';
import { type SupportParts, supportRoutes } from './support-routes.ts';

/** What they need of the agent. */
export type PageSettings = Omit<PreviewParts, 'settingsFile' | 'isFreshSecret'> &
  Pick<AccountParts, 'enrollment'> &
  SupportParts;

type SettingsAreaParts = PreviewParts & CredentialParts & AccountParts & SupportParts;

export function settingsArea(app: ApiApp, parts: SettingsAreaParts): void {
  previewRoutes(app, parts);
  credentialRoutes(app, parts);
  accountRoutes(app, parts);
  supportRoutes(app, parts);
}
