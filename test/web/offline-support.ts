import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../support/transfer.ts'

const WORKER = '/web/service-worker.js'

/** A proxy before the server, which can be cut off, and which can serve another build of the service worker or one with other limits. */
export async function openProxy(t: TestContext, target: string) {
  const state = { isDown: false, newBuild: false, limits: {} as Readonly<Record<string, number>> }
  const proxy = http.createServer((request, response) => {
    if (state.isDown) return void request.socket.destroy()
    const { method = 'GET', url = '/' } = request
    const { 'accept-encoding': _, ...headers } = request.headers
    const onward = http.request(`${target}${url}`, { method, headers }, (answer) => {
      const isWorker = url === WORKER && answer.statusCode === 200
      const sent = { ...answer.headers }
      if (isWorker) delete sent['content-length']
      response.writeHead(answer.statusCode ?? 500, sent)
      if (isWorker) void buffer(answer).then((bytes) => response.end(changedWorker(String(bytes))))
      else answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
    return undefined
  })
  function changedWorker(text: string): string {
    const limited = Object.entries(state.limits).reduce((code, [name, value]) => {
      const changed = code.replace(new RegExp(`\\b${name}=\\d+`), `${name}=${value}`)
      assert.notEqual(changed, code, `the service worker has no limit ${name}`)
      return changed
    }, text)
    return state.newBuild ? `${limited}\n// Another build.` : limited
  }
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return {
    url,
    state,
    /** Ends the connections, too. */
    cut() {
      state.isDown = true
      proxy.closeAllConnections()
    },
  }
}

export const cacheNames = (page: Page, start: string) =>
  page.evaluate(
    `caches.keys().then((names) => names.filter((name) => name.startsWith('${start}')))`,
  ) as Promise<string[]>

/** Waits until an expression is true in the page. Its policy forbids the polling of Playwright itself. */
export const until = (page: Page, expression: string) =>
  eventually(async () => assert.equal(await page.evaluate(expression), true, expression))

/** Waits until the service worker controls the page and has kept the app. */
export async function controlled(page: Page): Promise<void> {
  await page.evaluate(`navigator.serviceWorker.ready.then(() => undefined)`)
  await until(page, `navigator.serviceWorker.controller !== null`)
}

/** The addresses that are kept in caches whose names start like this, relative to the site. */
export async function keptUrls(page: Page, start: string): Promise<string[]> {
  const urls = (await page.evaluate(`
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith('${start}')).map((name) => caches.open(name))))
      .then((found) => Promise.all(found.map((cache) => cache.keys())))
      .then((keys) => keys.flat().map(({ url }) => url))`)) as string[]
  return urls.map((url) => url.slice(new URL(url).origin.length))
}
