/** Builds the page of the agent, the style sheet of the console and the script of API references, into dist/page. */
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'src/ui',
  base: './',
  logLevel: 'warn',
  build: {
    outDir: '../../dist/page',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    // The policy of the page takes nothing from within the document.
    assetsInlineLimit: 0,
    rolldownOptions: {
      // A slow machine is no mistake in the sources.
      checks: { bundlerTimings: false },
      input: {
        index: 'src/ui/index.html',
        console: 'src/ui/style/console.css',
        reference: 'src/ui/reference/reference.ts',
        'reference-style': 'src/ui/style/reference.css',
      },
      // A script for each page alone would be half as much again: what compresses together is sent together. The first
      // start and the overview are in one, everything else in another.
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'core',
              test: /src.ui.(?!pages|style|reference|language.(?!english)\w+[\\/])|src.ui.pages.(?:first-run|overview)|node_modules/,
            },
            { name: 'pages', test: /src.ui.pages.(?!overview|first-run)/ },
          ],
        },
      },
    },
  },
});
