/** `holdfast/client`: typed access to the Desktop API of an agent and to the Partner API. Runs on Node.js 20 and newer. */
export type * as Desktop from '../../dist/client/desktop-api.d.ts';
export type * as Partner from '../../dist/client/partner-api.d.ts';
export { type DesktopClient, type DesktopOptions, desktopClient } from './desktop-client.ts';
export { type ClientCode, HoldfastError } from './holdfast-error.ts';
export { type Job, type WaitOptions } from './job-end.ts';
export { type PartnerClient, type PartnerOptions, partnerClient } from './partner-client.ts';
export { type ReceivedWebhook, type VerifiedWebhook, verifyWebhook } from './webhook-messages.ts';
