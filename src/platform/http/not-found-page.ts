import { type HttpResponse, rawResponse } from '../responses/index.ts'

/** Whether the Accept header is that of a browser that opens an address. */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('text/html')
}

/** Surfaces for programs. Their responses are the same for every caller. */
const FOR_PROGRAMS = /^\/(?:api|api2|seafhttp)(?:\/|$)/

/** Whether an unknown address is answered with a page. */
export function isPageAddress(url: string): boolean {
  return !FOR_PROGRAMS.test(url.split('?', 1)[0] ?? '')
}

/** The response to a browser at an unknown address. Contains nothing of the address but the depth of its path. */
export function notFoundPage(url: string): HttpResponse {
  const depth = (url.split('?', 1)[0] ?? '').split('/').length - 2
  const app = `${'../'.repeat(Math.max(0, depth)) || './'}app/`
  return rawResponse({
    status: 404,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
      'Cache-Control': 'no-store',
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Page not found</title>
<style>:root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto;padding:0 1em}</style>
</head>
<body>
<main>
<h1>Page not found</h1>
<p>There is nothing at this address.</p>
<p><a href="${app}">Go to your libraries</a></p>
</main>
</body>
</html>
`,
  })
}
