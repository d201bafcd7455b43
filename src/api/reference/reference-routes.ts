/** Serves /docs: the reference page of an API with its style sheet, script and icon, and nothing from elsewhere. */
import { type PageFile, referencePageFiles } from '../framework/page-files.ts';
import type { ApiApp } from '../framework/route.ts';
import { PAGE_POLICY } from '../wire/headers.ts';
import type { JsonObject } from './api-document.ts';
import { type ReferenceLook, referencePage } from './reference-page.ts';

export interface ReferenceParts extends Pick<ReferenceLook, 'access' | 'appendix'> {
  readonly document: () => Promise<JsonObject>;
  /** Trusted HTML about how to get started. */
  readonly introduction: () => string;
}

/** The page is served without its script, style and icon when these were not built. */
export function referenceRoutes(
  app: ApiApp,
  { document, introduction, access, appendix }: ReferenceParts,
): void {
  const files = referencePageFiles();
  const at = (file: PageFile | undefined): string => (file === undefined ? '' : `/docs${file.path}`);
  const { style, script, icon } = files;

  app.get('/docs', { config: { scope: 'public', produces: 'text/html' } }, async (_request, reply) => {
    reply.type('text/html; charset=utf-8');
    reply.header('content-security-policy', PAGE_POLICY);
    const look = {
      style: at(style),
      script: at(script),
      icon: at(icon),
      introduction: introduction(),
      access,
      appendix,
    };
    return referencePage(await document(), look);
  });

  for (const file of [style, script, icon].filter((one) => one !== undefined)) {
    app.get(at(file), { config: { scope: 'entry', produces: file.type } }, async (_request, reply) => {
      reply.type(`${file.type}; charset=utf-8`);
      reply.header('cache-control', 'public, max-age=31536000, immutable');
      return await file.read();
    });
  }
}
