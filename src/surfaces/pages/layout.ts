import { directionOf } from '../../base/texts/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { type HttpResponse, rawResponse } from '../../platform/responses/index.ts'
import { assetVersion } from './assets.ts'
import { html, type Shown } from './html.ts'
import { icon } from './icons.ts'
import { textsFor } from './texts/texts.ts'

/** CSP: same origin only, no inline scripts or styles, no framing. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "media-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface Page {
  readonly title: string
  readonly body: Shown
  readonly status?: number
  /** Shown in the top right corner. */
  readonly aside?: Shown
  readonly headers?: Readonly<Record<string, string>>
  readonly hasScript?: boolean
}

/** A page as it is sent. */
export async function pageAnswer(request: HttpRequest, page: Page): Promise<HttpResponse> {
  const root = rootOf(request)
  const version = await assetVersion()
  const texts = textsFor(request)
  const document = html`<!doctype html>
<html lang="${texts.language}" dir="${directionOf(texts.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Carrel</title>
<link rel="stylesheet" href="${root}pages/links.css?v=${version}">
<link rel="icon" href="${root}pages/icon.svg" type="image/svg+xml">
${page.hasScript && html`<script src="${root}pages/links.js?v=${version}" defer></script>`}
</head>
<body${page.hasScript && html` data-words="${JSON.stringify(texts.script)}"`}>
<a class="skip" href="#content">${texts.skip}</a>
<header class="top"><span class="brand">${icon('brand')} Carrel</span>${page.aside && html`<span class="aside">${page.aside}</span>`}</header>
<main id="content">${page.body}</main>
<footer class="foot">${texts.foot}</footer>
</body>
</html>
`
  return rawResponse({
    status: page.status ?? 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': PAGE_POLICY,
      'X-Robots-Tag': 'noindex, nofollow',
      'Cache-Control': 'private, no-store',
      ...page.headers,
    },
    body: document.text,
  })
}

/** The relative path to the site root, because a proxy may add an unknown prefix. */
export function rootOf({ url }: HttpRequest): string {
  const [path = ''] = url.split('?', 1)
  return '../'.repeat(path.split('/').length - 2) || './'
}
