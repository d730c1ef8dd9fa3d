import { unlessUnchanged } from '../../platform/representations/index.ts'
import { jsonTextResponse, rawResponse } from '../../platform/responses/index.ts'
import { assetVersion } from './assets.ts'
import { html } from './html.ts'
import { icon } from './icons.ts'
import { PAGE_POLICY } from './layout.ts'
import { rootOf } from './root.ts'
import { route } from './services.ts'

/** The description of the API, and a page that shows it. */
export const referenceRoutes = [
  route({
    method: 'GET',
    path: '/api/openapi.json',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Sends the description of the API (OpenAPI 3.1).',
    async handle({ request }, services) {
      const text = await services.apiDescription()
      return unlessUnchanged(request, text, () => jsonTextResponse(text))
    },
  }),
  route({
    method: 'GET',
    path: '/api/docs',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Shows the reference of the API.',
    async handle({ request }) {
      const root = rootOf(request)
      const version = await assetVersion()
      const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>API reference · Carrel</title>
<link rel="stylesheet" href="${root}pages/pages.css?v=${version}">
<link rel="stylesheet" href="${root}pages/reference.css?v=${version}">
<link rel="icon" href="${root}pages/icon.svg" type="image/svg+xml">
<script src="${root}pages/reference.js?v=${version}" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><span class="brand">${icon('brand')} Carrel</span><span class="aside"><a href="${root}api/openapi.json">openapi.json</a></span></header>
<main id="content" class="reference">
<h1>API reference</h1>
<p id="introduction"></p>
<label class="filter">Filter <input id="filter" type="search" placeholder="a path or a word" autocomplete="off"></label>
<p id="count" role="status">Loading…</p>
<div id="operations"></div>
<noscript><p>This page needs JavaScript. The description itself is <a href="${root}api/openapi.json">openapi.json</a>.</p></noscript>
</main>
</body>
</html>
`
      return rawResponse({
        headers: {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Security-Policy': PAGE_POLICY,
          'X-Robots-Tag': 'noindex, nofollow',
          'Cache-Control': 'no-cache',
        },
        body: page.text,
      })
    },
  }),
]
