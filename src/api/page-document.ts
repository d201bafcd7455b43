/** The one document of the product's own page. Everything in it that changes is put there by its script, as text. */

export const PAGE_DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Holdfast</title>
<link rel="icon" href="/page.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
</head>
<body>
<header>
<h1><img src="/page.svg" alt="" width="28" height="28"> Holdfast <small id="version"></small></h1>
<button id="sign-out" type="button" hidden>Sign out</button>
</header>
<main>
<p id="notice" role="alert" hidden></p>
<section id="closed" hidden>
<h2>This page is not signed in</h2>
<p>Open it from the command line, as the user that backs up:</p>
<pre>holdfast ui</pre>
<p>The address it gives works once, for a minute.</p>
</section>
<div id="open" hidden>
<p id="sentence" role="status"></p>
<section aria-labelledby="sources-title">
<h2 id="sources-title">Sources</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">What</th><th scope="col">Last good snapshot</th><th scope="col">Next</th><th scope="col">To</th></tr></thead>
<tbody id="sources"></tbody>
</table></div>
<p id="no-sources" class="quiet" hidden>Nothing is backed up yet. Begin with: <code>holdfast sources add DIR</code></p>
</section>
<section aria-labelledby="jobs-title">
<h2 id="jobs-title">Last jobs</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">What</th><th scope="col">Outcome</th><th scope="col">When</th><th scope="col" class="number">Files</th><th scope="col" class="number">Size</th></tr></thead>
<tbody id="jobs"></tbody>
</table></div>
<p id="no-jobs" class="quiet" hidden>There were none yet.</p>
</section>
</div>
<noscript><p>This page needs JavaScript. On the command line: <code>holdfast status</code></p></noscript>
</main>
<footer><a href="/docs">Desktop API</a></footer>
</body>
</html>
`;
