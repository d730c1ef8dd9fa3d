import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { Request } from 'playwright-core'
import { uploadFile } from '../support/transfer.ts'
import { webSuite } from './support.ts'

/** Compressed size limit of everything that is loaded before a list shows. */
const MAX_BYTES = 200_000
/** Limit of the requests until a list shows, with those of the API. */
const MAX_REQUESTS = 22

describe('the served web app', () => {
  const suite = webSuite()

  it('is one page at every URL, which refers to its assets from the root of the site', async () => {
    for (const [address, base] of [
      ['/app', './'],
      ['/app/', '../'],
      ['/app/library/5a1e?p=/a/b', '../../'],
    ] as const) {
      const reply = await suite.server.anonymous.get(address)
      assert.equal(reply.status, 200)
      assert.match(reply.headers.get('content-type') ?? '', /^text\/html/)
      assert.ok(reply.text.includes(`<base href="${base}"`), address)
      assert.match(reply.text, /src="web\/assets\/app-[\w-]+\.js"/)
    }
  })

  it('allows only its own scripts, and cannot be framed', async () => {
    const first = await suite.server.anonymous.get('/app/')
    const policy = first.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'(?:;|$)/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.doesNotMatch(first.text, /<script(?![^>]*\bsrc=)/)
    const again = await suite.server.anonymous.get('/app/')
    assert.notEqual(again.headers.get('content-security-policy'), policy, 'a nonce is used once')
  })

  it('serves assets compressed and immutable, and 404 for unknown ones', async () => {
    const page = await suite.server.anonymous.get('/app/')
    const [, script = ''] = /src="(web\/assets\/[^"]+)"/.exec(page.text) ?? []
    for (const coding of ['br', 'gzip', 'identity']) {
      const headers = { 'Accept-Encoding': coding }
      const reply = await suite.server.anonymous.call('GET', `/${script}`, { headers })
      assert.equal(reply.status, 200)
      assert.equal(reply.headers.get('content-encoding'), coding === 'identity' ? null : coding)
      assert.match(reply.headers.get('cache-control') ?? '', /immutable/)
      assert.match(reply.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
      assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(reply.headers.get('permissions-policy'), null, 'which concerns documents only')
      assert.match(reply.text, /import|function/)
    }
    for (const name of [
      '',
      'index.html.br',
      '../package.json',
      '..%2fpackage.json',
      'assets/',
      '.built-from',
      `${script}.br`,
    ]) {
      assert.equal((await suite.server.anonymous.get(`/web/${name}`)).status, 404, name)
    }
    const manifest = await suite.server.anonymous.get('/web/manifest.webmanifest')
    assert.equal(manifest.body.short_name, 'Carrel')
    assert.equal(manifest.body.share_target.action, '../app/share')
    const worker = await suite.server.anonymous.get('/web/service-worker.js')
    assert.equal(worker.headers.get('service-worker-allowed'), '../app')
    assert.equal(worker.headers.get('cache-control'), 'no-cache')
    assert.match(
      worker.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; connect-src 'self'/,
    )
    assert.match(worker.text, /web\/assets\/app-/, 'it knows the files to keep')
    for (const { src } of manifest.body.icons) {
      assert.equal((await suite.server.anonymous.get(`/web/${src}`)).headers.get('content-type'), 'image/png')
    }
  })

  for (const [name, address] of [
    ['the list of libraries', () => '/'],
    ['a folder', (library: string) => `/library/${library}?p=/inner`],
  ] as const) {
    it(`shows ${name} after few requests and bytes, each requested once`, async (t) => {
      const person = await suite.server.signUp()
      const library = await person.createLibrary('Opened first')
      await uploadFile(person, library, '/inner/shown.txt', 'text')
      const tab = await suite.openTab(t, person)
      if (tab === undefined) return
      const requests: Request[] = []
      tab.page.on('request', (request) => requests.push(request))
      const isReady = tab.page.waitForResponse(/api\/v2\.1\/events/)
      await tab.go(address(library))
      await tab.page.getByRole('navigation', { name: 'Main' }).waitFor()
      await tab.page
        .getByText(address(library) === '/' ? 'Opened first' : 'shown.txt')
        .first()
        .waitFor()
      await isReady
      // The tab has the icon too, which the browser counts again. The texts of other pages follow some time after this one.
      const isCounted = (request: Request) =>
        request.headers()['if-none-match'] === undefined &&
        !/\/pages\/icon\.svg$|\/assets\/later-/.test(request.url())
      const sent = requests.filter(isCounted)
      const urls = sent.map((request) => request.url().slice(suite.server.url.length))
      assert.deepEqual(urls.toSorted(), [...new Set(urls)].toSorted(), 'nothing is requested twice')
      assert.ok(!urls.some((url) => url.includes('/overlays-')), 'menus and dialogs are loaded on demand')
      assert.ok(urls.length <= MAX_REQUESTS, `${urls.length} requests: ${urls.join('\n')}`)
      const parts = sent.filter((request) => !request.url().includes('/events/'))
      const sizes = await Promise.all(parts.map(async (part) => (await part.sizes()).responseBodySize))
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      assert.ok(bytes > 50_000 && bytes < MAX_BYTES, `${bytes} bytes`)
      t.diagnostic(`${urls.length} requests and ${bytes} bytes to ${name}`)
      t.diagnostic(urls.map((url, n) => `${url} ${sizes[n]}`).join('\n'))
    })
  }

  it('shows the outline of a list until the app is loaded', async (t) => {
    const tab = await suite.openTab(t, await suite.server.signUp())
    if (tab === undefined) return
    let release = () => {}
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await tab.page.route(/assets\/vendor-/, async (route) => {
      await isReleased
      await route.continue()
    })
    await tab.page.goto(`${suite.server.url}/app/`, { waitUntil: 'commit' })
    await tab.page.locator('.skeleton-list').waitFor({ state: 'visible' })
    await tab.picture('skeleton')
    release()
    await tab.page.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.equal(await tab.page.locator('.skeleton').count(), 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('shows the first list with the first render, because React shows a fallback for at least 300 ms', async (t) => {
    const person = await suite.server.signUp()
    await person.createLibrary('Shown at once')
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    // A fallback is a child of the frame. The list has an outline of its own while it waits for its data.
    await tab.page.addInitScript(`
      new MutationObserver(() => {
        if (document.querySelector('main > .waiting, #root > .waiting')) globalThis.hadFallback = true
      }).observe(document, { childList: true, subtree: true })
    `)
    await tab.go('/')
    await tab.page.getByRole('link', { name: 'Shown at once' }).first().waitFor()
    assert.equal(await tab.page.evaluate('globalThis.hadFallback'), undefined)
    assert.deepEqual(tab.complaints, [])
  })

  it('works below a path prefix that only a proxy knows', async (t) => {
    const person = await suite.server.signUp()
    const library = await person.createLibrary('Behind a proxy')
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { hostname, port } = new URL(suite.server.url)
    const proxy = http.createServer((request, response) => {
      const path = request.url?.startsWith('/files/') ? request.url.slice('/files'.length) : undefined
      if (path === undefined) {
        response.writeHead(404).end()
        return
      }
      const { method = 'GET', headers } = request
      const passed = http.request({ hostname, port, path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      request.pipe(passed)
      // Requests that the page no longer waits for also end here, which is not an error.
      passed.on('error', () => response.destroy())
      response.on('close', () => passed.destroy())
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    t.after(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    const site = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/files/`
    const elsewhere: string[] = []
    tab.page.on('request', (request) => {
      if (!request.url().startsWith(site) && !/^(?:blob|data):/.test(request.url()))
        elsewhere.push(request.url())
    })
    await tab.page.goto(site)
    await tab.page.getByRole('link', { name: 'Behind a proxy' }).first().click()
    await tab.page.waitForURL(`${site}app/library/${library}*`)
    await tab.page.reload()
    await tab.page.getByRole('navigation', { name: 'Main' }).waitFor()
    await tab.page.goBack()
    await tab.page.getByRole('link', { name: 'Behind a proxy' }).first().waitFor()
    assert.deepEqual(elsewhere, [])
  })
})
