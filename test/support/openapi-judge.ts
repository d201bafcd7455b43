/** Judges replies of the Desktop API by docs/api/desktop.yaml. */
import { openJudge } from './openapi-documents.ts';

export { eventData } from './openapi-documents.ts';
export type {
  DocumentedRoute,
  JudgedReply,
  OpenApiParameter,
  OpenApiSchema,
  Operation,
} from './openapi-documents.ts';

export const desktop = openJudge('desktop', /^\/(?:api\/)?v1(?=\/)/);
export const { document: desktopDocument, routes: documentedRoutes, dereference, judge, faultsOf } = desktop;
