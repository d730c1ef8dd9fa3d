import { baseName, type LibraryPath, ROOT, selfAndAbove } from '../../base/paths/index.ts'
import { directionOf } from '../../base/texts/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { type HttpResponse, rawResponse } from '../../platform/responses/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { assetVersion } from './assets.ts'
import { html, type Shown } from './html.ts'
import { icon } from './icons.ts'
import { rootOf } from './root.ts'
import { type PageTexts, textsFor } from './texts/texts.ts'
import type { VisitorsApp } from './visitors-app.ts'
import { inQuery } from './wording.ts'

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
  /** The app that takes the place of the page in browsers with scripts. */
  readonly app?: VisitorsApp | undefined
}

/** A page as it is sent. */
export async function pageAnswer(request: HttpRequest, page: Page): Promise<HttpResponse> {
  const root = rootOf(request)
  const version = await assetVersion()
  const texts = textsFor(request)
  const hasScript = page.hasScript && page.app === undefined
  const document = html`<!doctype html>
<html lang="${texts.language}" dir="${directionOf(texts.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Carrel</title>
<link rel="stylesheet" href="${root}pages/pages.css?v=${version}" data-page-styles>
<link rel="icon" href="${root}pages/icon.svg" type="image/svg+xml">
${page.app?.head}
${hasScript && html`<script src="${root}pages/pages.js?v=${version}" defer></script>`}
</head>
<body${page.app && html` class="with-app"`}${hasScript && html` data-words="${JSON.stringify(texts.script)}"`}>
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
      'Content-Security-Policy': page.app?.policy ?? PAGE_POLICY,
      'X-Robots-Tag': 'noindex, nofollow',
      'Cache-Control': 'private, no-store',
      ...page.headers,
    },
    body: document.text,
  })
}

/** Breadcrumbs from the shared folder to a path below it; `base` is the URL of the folder's page. */
export function crumbs(open: OpenLink, below: LibraryPath, base: string, texts: PageTexts) {
  const steps = selfAndAbove(below).toReversed()
  return html`<nav class="crumbs" aria-label="${texts.where}"><ol>
${steps.map((step) => {
  const name = step === ROOT ? open.name : baseName(step)
  if (step === below) return html`<li><span aria-current="page">${name}</span></li>`
  return html`<li><a href="${base}${step === ROOT ? '?' : `?p=${inQuery(step)}`}">${name}</a></li>`
})}
</ol></nav>`
}
