import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import { Nodes } from '../support/nodes.ts'
import { findProgram, PostgresUnavailable } from '../support/postgres.ts'
import { PostgresProxy } from '../support/postgres-proxy.ts'
import { RestorablePostgres } from '../support/restorable-postgres.ts'
import type { TestServer } from '../support/server.ts'
import { filePart, intoRoot, namesIn, postForm, uploadFile, uploadLink } from '../support/transfer.ts'

async function whyNot(): Promise<string | false> {
  try {
    await findProgram()
    return false
  } catch (error) {
    if (!(error instanceof PostgresUnavailable) || process.env['CI'] === 'true') throw error
    return error.message
  }
}

const skip = await whyNot()

/** A request to each surface. Each gets along without the others. */
interface Requests {
  readonly client: Client
  readonly library: string
  /** Sends them all at once. Resolves to their responses. */
  send(): Promise<Map<string, Response>>
}

async function requestsTo(server: TestServer): Promise<Requests> {
  const client = await server.signUp()
  const library = await client.createLibrary('Interrupted')
  await uploadFile(client, library, '/a.txt', 'a')
  const link = await uploadLink(client, library)
  const shared = await client.post('/api/v2.1/share-links/', { json: { repo_id: library, path: '/a.txt' } })
  const { token: linkToken } = shared.body as { token: string }
  const info = await client.get(`/api2/repos/${library}/download-info/`)
  const { token: syncToken } = info.body as { token: string }
  const headers = { Authorization: `Token ${client.token}` }
  let sent = 0
  const send = async () => {
    sent += 1
    const name = `${sent}.txt`
    const form = new FormData()
    form.set('parent_dir', '/')
    form.set('file', new Blob([name]), name)
    const calls = {
      listing: fetch(`${server.url}/api2/repos/${library}/dir/?p=/`, { headers }),
      change: fetch(`${server.url}/api2/repos/${library}/dir/?p=/folder-${sent}`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'operation=mkdir',
      }),
      upload: fetch(link, { method: 'POST', body: form }),
      sync: fetch(`${server.url}/seafhttp/repo/${library}/commit/HEAD`, {
        headers: { 'Seafile-Repo-Token': syncToken },
      }),
      page: fetch(`${server.url}/f/${linkToken}/`),
      download: fetch(`${server.url}/f/${linkToken}/?dl=1`, { redirect: 'manual' }),
      events: fetch(`${server.url}/api/v2.1/notifications/`, { headers }),
    }
    const responses = new Map<string, Response>()
    for (const [surface, call] of Object.entries(calls)) responses.set(surface, await call)
    return responses
  }
  return { client, library, send }
}

async function expectAll(responses: Map<string, Response>, isExpected: (status: number) => boolean) {
  for (const [surface, response] of responses) {
    const text = await response.text()
    assert.ok(isExpected(response.status), `${surface}: ${response.status} ${text}`)
    if (response.status === 503) assert.match(response.headers.get('retry-after') ?? '', /^\d+$/, surface)
  }
}

const succeeded = (status: number) => status >= 200 && status < 400
// 504 if a commit was sent and its outcome is unknown.
const isRefused = (status: number) => status === 503 || status === 504

describe('a server whose PostgreSQL', { skip }, () => {
  let postgres: RestorablePostgres
  before(async () => {
    postgres = await RestorablePostgres.create()
  })
  after(() => postgres[Symbol.asyncDispose]())

  const start = async (stack: AsyncDisposableStack, url = postgres.url) => {
    const nodes = stack.use(
      await Nodes.create({
        adminUrl: url,
        createDatabase: async () => url,
        createWithSchema: async () => url,
        copyDatabase: async () => url,
        [Symbol.asyncDispose]: async () => {},
      }),
    )
    return nodes.start()
  }

  it('is restarted answers all requests, after it is back', { timeout: 120_000 }, async () => {
    await using stack = new AsyncDisposableStack()
    const requests = await requestsTo(await start(stack))
    await expectAll(await requests.send(), succeeded)
    const sent = [requests.send()]
    await postgres.stop()
    sent.push(requests.send())
    // The interruption lasts for a while; the requests wait for its end, not for this time.
    await delay(1000)
    sent.push(requests.send())
    await postgres.start()
    for (const responses of await Promise.all(sent)) await expectAll(responses, succeeded)
    const names = await namesIn(requests.client, requests.library)
    assert.deepEqual(
      names.filter((name) => name.startsWith('folder')),
      ['folder-1/', 'folder-2/', 'folder-3/', 'folder-4/'],
    )
    assert.equal(new Set(names).size, names.length)
  })

  it('is frozen refuses requests until it goes on, without a restart', { timeout: 180_000 }, async () => {
    await using stack = new AsyncDisposableStack()
    const requests = await requestsTo(await start(stack))
    await expectAll(await requests.send(), succeeded)
    postgres.freeze()
    try {
      await expectAll(await requests.send(), isRefused)
    } finally {
      postgres.thaw()
    }
    await expectAll(await requests.send(), succeeded)
  })

  it('is out of reach or silent refuses requests, and answers when it is back', {
    timeout: 240_000,
  }, async () => {
    await using stack = new AsyncDisposableStack()
    const proxy = stack.use(await PostgresProxy.start(postgres.url))
    const requests = await requestsTo(await start(stack, proxy.url))
    for (const interrupt of ['refuse', 'silence'] as const) {
      await expectAll(await requests.send(), succeeded)
      proxy[interrupt]()
      await expectAll(await requests.send(), isRefused)
      // After a long interruption nothing waits for its end.
      const began = performance.now()
      await expectAll(await requests.send(), isRefused)
      if (interrupt === 'refuse') assert.ok(performance.now() - began < 10_000)
      proxy.recover()
      await expectAll(await requests.send(), succeeded)
    }
  })

  it('closes connections, also in the middle of transactions, answers all requests', {
    timeout: 120_000,
  }, async () => {
    await using stack = new AsyncDisposableStack()
    const proxy = stack.use(await PostgresProxy.start(postgres.url))
    const { client, library } = await requestsTo(await start(stack, proxy.url))
    const link = await uploadLink(client, library)
    let sent = 0
    // Not the commit: whether that was carried out is another question.
    proxy.judge = ({ from, type, body }) => {
      if (from !== 'client' || type !== 'B' || body.includes('carrel_commit')) return 'forward'
      sent += 1
      return sent % 23 === 0 ? 'cut-before' : 'forward'
    }
    for (let number = 0; number < 20; number++) {
      const { status, text } = await postForm(link, [intoRoot, filePart(`cut-${number}.txt`)])
      assert.equal(status, 200, text)
    }
    proxy.judge = () => 'forward'
    assert.ok(sent > 23)
    const names = await namesIn(client, library)
    assert.equal(names.filter((name) => name.startsWith('cut-')).length, 20)
  })
})
