/**
 * The service worker: the app without a connection. It keeps the files of the app, the lists that were seen last, and starred files with the viewers that
 * they need, each within the limits that the account page shows. All that it keeps is a fallback: while the server answers, pages and data come
 * from the server, so that an old app never calls a newer API. It is a classic script, so what it imports must be in its own file.
 */

import { activate, asset, install, page } from './app-files.ts'
import { siteRoot, worker } from './scope.ts'
import { data, isKept } from './session-data.ts'
import { receiveShared } from './shared-files.ts'
import { storedFile } from './starred-files.ts'

worker.addEventListener('install', (event) => event.waitUntil(install()))
worker.addEventListener('activate', (event) => event.waitUntil(activate()))
worker.addEventListener('message', ({ data }) => {
  if (data === 'activate') void worker.skipWaiting()
})
worker.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (url.origin !== siteRoot.origin || !url.pathname.startsWith(siteRoot.pathname)) return
  const path = url.pathname.slice(siteRoot.pathname.length)
  if (request.method === 'POST' && path === 'app/share') event.respondWith(receiveShared(request))
  if (request.method !== 'GET') return
  if (request.mode === 'navigate') event.respondWith(page(event))
  else if (path.startsWith('web/assets/') || path === 'pages/icon.svg') event.respondWith(asset(request))
  else if (path === 'app/offline-file') event.respondWith(storedFile(url, request.headers.get('Range')))
  else if (isKept(path)) event.respondWith(data(event, path))
})
