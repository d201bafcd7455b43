/** Judges replies of the Partner API by docs/api/partner.yaml. */
import { openJudge } from './openapi-documents.ts';

export const partner = openJudge('partner', /^\/api\/partner\/v1(?=\/)/);
export const {
  document: partnerDocument,
  routes: partnerRoutes,
  dereference,
  judge: judgePartner,
  faultsOf: partnerFaultsOf,
} = partner;
