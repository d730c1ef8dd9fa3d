import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

const visit = (path: string, headers: Record<string, string> = BROWSER) =>
  fetch(server.url + path, { headers, redirect: 'manual' })

/** Where a browser arrives from `path`. */
async function target(path: string): Promise<string> {
  const response = await visit(path)
  assert.equal(response.status, 302, path)
  const location = response.headers.get('location') ?? ''
  assert.match(location, /^(?:\.\.?\/)+app\//, 'relative, so that no address leads to another site')
  return new URL(location, server.url + path).href.slice(server.url.length)
}

describe('addresses of other servers', () => {
  const expected: [from: string, to: string][] = [
    ['/my-libs/', '/app/'],
    ['/accounts/login/?next=https://evil.example/', '/app/'],
    ['/profile/', '/app/account'],
    ['/sys/users/', '/app/admin'],
    [`/library/${ID}/My%20files/`, `/app/library/${ID}`],
    [`/library/${ID}/My%20files/a%20b/c%26d`, `/app/library/${ID}?p=%2Fa%20b%2Fc%26d`],
    [`/lib/${ID}/file/a/%E4%B8%AD.txt`, `/app/view/${ID}?p=%2Fa%2F%E4%B8%AD.txt`],
    ['/library/%2F%2Fevil.example/x', '/app/library/%2F%2Fevil.example'],
  ]
  for (const [from, to] of expected) {
    it(`${from} lead to the page of the web app`, async () => {
      assert.equal(await target(from), to)
    })
  }

  it('are unknown to programs', async () => {
    const response = await visit('/my-libs/', { Accept: 'application/json' })
    assert.deepEqual([response.status, await response.json()], [404, { error_msg: 'Not found.' }])
  })
})

describe('an unknown address', () => {
  it('shows a page in a browser, which repeats nothing of the address', async () => {
    const response = await visit('/no/such/<script>?q=<b>')
    assert.equal(response.status, 404)
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
    const page = await response.text()
    assert.match(page, /<a href="\.\.\/\.\.\/app\/">/)
    assert.doesNotMatch(page, /script|<b>/)
  })

  it('is answered in JSON for programs, and below the API for everyone', async () => {
    for (const [path, headers] of [
      ['/no/such', { Accept: '*/*' }],
      ['/api/v2.1/none/', BROWSER],
      ['/api2/none/', BROWSER],
    ] as const) {
      const response = await visit(path, headers)
      assert.deepEqual([response.status, await response.json()], [404, { error_msg: 'Not found.' }], path)
    }
  })
})
