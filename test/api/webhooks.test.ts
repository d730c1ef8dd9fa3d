import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { claimDelivery, setDelivered } from '../../src/derived/activity/webhook-delivery-store.ts'
import { RETRY_SECONDS } from '../../src/derived/activity/webhook-sender.ts'
import { MAX_WEBHOOKS } from '../../src/derived/activity/webhooks.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client, Params } from '../support/client.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type ReceivedCall, WebhookReceiver } from '../support/webhook-receiver.ts'
import { assertError, assertReply, NOON, NOON_TEXT, Workspace } from './folders-support.ts'
import { makeFolder, shareWith } from './sharing-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'
let clock = NOON
let server: TestServer
before(async () => {
  server = await startServer({ now: () => clock, env: { CARREL_WEBHOOK_PRIVATE: 'on' } })
})
after(() => server[Symbol.asyncDispose]())

const settled = (own = server) => own.running.services.activity.webhookSender.settled()

/** Resolves when all events so far were delivered to the receivers that respond. */
async function told(space: Workspace, own = server): Promise<void> {
  await space.client.get('/api/v2.1/activities/')
  await settled(own)
}

const add = (space: Workspace, form: Params) => space.client.post(space.v21('webhooks/'), { form })

async function hooked(receiver: WebhookReceiver, own = server) {
  const space = await Workspace.make(own)
  const reply = await add(space, { url: `${receiver.url}/hook` })
  assert.equal(reply.status, 200, reply.text)
  return { space, webhook: reply.body.webhook, one: space.v21(`webhooks/${reply.body.webhook.id}/`) }
}

function isSigned({ headers, text }: ReceivedCall, secret: string): boolean {
  const timestamp = headers['x-carrel-timestamp'] as string
  const expected = createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex')
  return headers['x-carrel-signature'] === `sha256=${expected}`
}

const deliveriesOf = async (client: Client, one: string, query: Params = {}) =>
  (await client.get(`${one}deliveries/`, query)).body.delivery_list

describe('webhooks', () => {
  it('send nothing while the owner of the library is deactivated', async () => {
    clock = NOON
    await using receiver = await WebhookReceiver.start()
    const { space } = await hooked(receiver)
    const member = await server.signUp()
    await shareWith(space.client, space.id, member)
    const { accounts } = server.running.services
    const commitAndSettle = async (name: string) => {
      await makeFolder(member, space.id, name)
      await member.get('/api/v2.1/activities/')
      await settled()
    }
    await accounts.update(space.client.email, { active: false }, undefined)
    await commitAndSettle('/unheard')
    assert.equal(receiver.calls.length, 0)
    await accounts.update(space.client.email, { active: true }, undefined)
    await commitAndSettle('/heard')
    assert.equal(receiver.calls.length, 1)
    assert.match(receiver.calls[0]?.text ?? '', /heard/)
    assert.doesNotMatch(receiver.calls[0]?.text ?? '', /unheard/)
  })

  it('are created, listed, changed and deleted, and show their secret once', async () => {
    clock = NOON
    const space = await Workspace.make(server)
    const { client } = space
    assertReply(await client.get(space.v21('webhooks/')), 200, { webhook_list: [] })
    const made = await add(space, { url: 'https://example.org/hook', secret: 'shh' })
    const { id } = made.body.webhook
    const shown = {
      id,
      repo_id: space.id,
      url: 'https://example.org/hook',
      creator: client.email,
      created_at: NOON_TEXT,
      is_valid: true,
      settings: { secret: '' },
    }
    assertReply(made, 200, { webhook: { ...shown, settings: { secret: 'shh' } } })
    assertReply(await client.get(space.v21('webhooks/')), 200, { webhook_list: [shown] })
    const generated = (await add(space, { url: 'https://example.org/2' })).body.webhook
    assert.match(generated.settings.secret, /^[\w-]{43}$/)
    const one = space.v21(`webhooks/${id}/`)
    assertReply(await client.put(one, { json: { url: 'http://example.net/' } }), 200, {
      webhook: { ...shown, url: 'http://example.net/' },
    })
    const renewed = await client.put(one, { form: { secret: 'new' } })
    assert.equal(renewed.body.webhook.settings.secret, 'new')
    assertReply(await client.put(one, { form: { secret: '', is_valid: 'false' } }), 200, {
      webhook: { ...shown, url: 'http://example.net/', is_valid: false },
    })
    assertReply(await client.delete(one), 200, { success: true })
    assertError(await client.delete(one), 404, 'Webhook not found.')
    const { webhook_list: left } = (await client.get(space.v21('webhooks/'))).body
    assert.deepEqual(
      left.map((webhook: { id: number }) => webhook.id),
      [generated.id],
    )
  })

  it('store their secret encrypted', async () => {
    const space = await Workspace.make(server)
    const { id } = (await add(space, { url: 'https://example.org/', secret: 'plainly visible' })).body.webhook
    const { core } = server.running.services
    const row = await dbOf(core).get<{ secret: Uint8Array }>('select secret from webhook where key = ?', id)
    assert.ok(row)
    assert.ok(!Buffer.from(row.secret).includes('plainly'))
  })

  it('reject invalid and duplicate URLs, and more than the limit', async () => {
    const space = await Workspace.make(server)
    const bad = [
      '',
      'x',
      'ftp://example.org/',
      'http://u:p@example.org/',
      'http://',
      `http://a/${'x'.repeat(3000)}`,
    ]
    for (const url of [undefined, ...bad]) assertError(await add(space, { url }), 400, 'url invalid.', url)
    assertError(await add(space, { url: 'http://a.org/', secret: 'x'.repeat(256) }), 400, 'secret invalid.')
    const { id } = (await add(space, { url: 'http://a.org/' })).body.webhook
    assertError(await add(space, { url: 'http://a.org/#other' }), 409, 'Webhook exists.')
    const other = (await add(space, { url: 'http://b.org/' })).body.webhook.id
    const one = space.v21(`webhooks/${other}/`)
    assertError(await space.client.put(one, { form: { url: 'http://a.org' } }), 409, 'Webhook exists.')
    assertError(await space.client.put(one, { form: { url: 'nothing' } }), 400, 'url invalid.')
    for (const wrong of [id + 1000, 'x', '-1', '1.5', '9'.repeat(20)]) {
      const reply = await space.client.put(space.v21(`webhooks/${wrong}/`), { form: { url: 'http://c.org' } })
      assert.equal(reply.status, 404, String(wrong))
    }
    for (let n = 2; n < MAX_WEBHOOKS; n++) await add(space, { url: `http://a.org/${n}` })
    assertError(
      await add(space, { url: 'http://one.too.many.org/' }),
      400,
      `A library can have at most ${MAX_WEBHOOKS} webhooks.`,
    )
  })

  it('are managed by owners only', async () => {
    const space = await Workspace.make(server)
    const { id } = (await add(space, { url: 'http://a.org/' })).body.webhook
    const [stranger, other] = [await server.signUp(), await Workspace.make(server)]
    const calls: [string, string][] = [
      ['GET', 'webhooks/'],
      ['POST', 'webhooks/'],
      ['PUT', `webhooks/${id}/`],
      ['DELETE', `webhooks/${id}/`],
      ['GET', `webhooks/${id}/deliveries/`],
      ['POST', `webhooks/${id}/deliveries/${UNKNOWN}/redeliver/`],
    ]
    for (const [method, rest] of calls) {
      const options = method === 'POST' || method === 'PUT' ? { form: { url: 'http://evil.org/' } } : {}
      assertError(await stranger.call(method, space.v21(rest), options), 403, 'Permission denied.', rest)
      if (!rest.includes(String(id))) continue
      // A webhook is accessible through its own library only.
      assertError(await other.client.call(method, other.v21(rest), options), 404, 'Webhook not found.', rest)
    }
    assert.equal((await server.anonymous.get(space.v21('webhooks/'))).status, 403)
  })

  it('receive each later commit, signed', async () => {
    clock = NOON
    await using receiver = await WebhookReceiver.start()
    const { space, webhook } = await hooked(receiver)
    const content = contentOf(server, space.client, space.id)
    const first = await content.addFile('/a')
    const second = await content.rename('/a', 'b')
    await told(space)
    assert.equal(receiver.calls.length, 2)
    const [call] = receiver.calls
    assert.ok(call)
    assert.ok(isSigned(call, webhook.settings.secret))
    assert.ok(!isSigned(call, 'another'))
    assert.equal(call.path, '/hook')
    assert.equal(call.headers['x-carrel-event'], 'commit')
    assert.equal(call.headers['content-type'], 'application/json; charset=utf-8')
    assert.match(String(call.headers['x-carrel-delivery']), /^[0-9a-f-]{36}$/)
    assert.equal(call.headers['x-carrel-timestamp'], String(NOON))
    assert.deepEqual(call.body, {
      event: 'commit',
      repo_id: space.id,
      repo_name: 'Plans',
      commit_id: first,
      parent_id: call.body.parent_id,
      seq: 2,
      author_email: space.client.email,
      time: NOON,
      description: 'Added "a"',
      changes: [{ op_type: 'create', obj_type: 'file', path: '/a' }],
      change_count: 1,
    })
    assert.deepEqual(receiver.calls[1]?.body.commit_id, second)
    assert.deepEqual(receiver.calls[1]?.body.changes, [
      { op_type: 'rename', obj_type: 'file', path: '/b', old_path: '/a' },
    ])
  })

  it('can be verified by the check in the documentation', async () => {
    clock = NOON
    await using receiver = await WebhookReceiver.start()
    const { space, webhook } = await hooked(receiver)
    await space.file('/a')
    await told(space)
    const [call] = receiver.calls
    const docs = await readFile(path.join(import.meta.dirname, '../../docs/events.md'), 'utf8')
    const [, code] = /```js\n(import \{ createHmac.*?)```/s.exec(docs) ?? []
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code ?? '')}`)
    const { secret } = webhook.settings
    assert.equal(isGenuine(call?.headers, call?.text, secret, NOON + 60), true)
    assert.equal(isGenuine(call?.headers, `${call?.text} `, secret, NOON), false)
    assert.equal(isGenuine(call?.headers, call?.text, 'another', NOON), false)
    assert.equal(isGenuine(call?.headers, call?.text, secret, NOON + 3600), false)
  })

  it('receive events without a commit', async () => {
    await using receiver = await WebhookReceiver.start()
    const { space } = await hooked(receiver)
    await space.client.delete(space.v21('trash/'), { form: { keep_days: 2 } })
    await space.client.delete(space.v2(''))
    await space.client.post('/api/v2.1/deleted-repos/', { form: { repo_id: space.id } })
    await settled()
    assert.deepEqual(
      receiver.calls.map(({ body }) => [body.event, body.repo_id, body.days]),
      [
        ['trash-emptied', space.id, 2],
        ['deleted', space.id, undefined],
        ['restored', space.id, undefined],
      ],
    )
  })

  it('do not follow the library to a new owner', async () => {
    await using receiver = await WebhookReceiver.start()
    const { space } = await hooked(receiver)
    const bob = await server.signUp()
    await space.client.put(space.v2('owner/'), { form: { owner: bob.email } })
    assertReply(await bob.get(space.v21('webhooks/')), 200, { webhook_list: [] })
    const theirs = new Workspace(server, bob, space.id)
    await theirs.file('/secret')
    await told(theirs)
    assert.deepEqual(receiver.calls, [])
    assert.equal((await bob.post(space.v21('webhooks/'), { form: { url: receiver.url } })).status, 200)
    const admin = await server.admin()
    const carl = await server.signUp()
    const moved = await admin.post(`/api2/accounts/${bob.email}/`, {
      form: { op: 'migrate', to_user: carl.email },
    })
    assert.equal(moved.status, 200, moved.text)
    assertReply(await carl.get(space.v21('webhooks/')), 200, { webhook_list: [] })
    assert.equal((await carl.get('/api/v2.1/notifications/')).body.notification_list[0].type, 'repo_transfer')
  })

  for (const [what, end] of [
    [
      'deactivated',
      (email: string) => server.running.services.accounts.update(email, { active: false }, undefined),
    ],
    ['removed', (email: string) => server.running.services.accounts.remove(email, undefined)],
  ] as const) {
    it(`send nothing more for an account that was ${what}, not even queued events`, async () => {
      clock = NOON
      await using receiver = await WebhookReceiver.start()
      receiver.answer = (_request, response) => void response.writeHead(503).end()
      const { space, webhook } = await hooked(receiver)
      const bob = await server.signUp()
      await shareWith(space.client, space.id, bob)
      await space.file('/before')
      await told(space)
      assert.equal(receiver.calls.length, 1)
      await end(space.client.email)
      clock += RETRY_SECONDS[0] ?? 0
      await settled()
      // Another account continues in the library.
      await bob.post(space.v21('file/'), { query: { p: '/after' }, form: { operation: 'create' } })
      await bob.get('/api/v2.1/activities/')
      await settled()
      assert.equal(receiver.calls.length, 1)
      const { db } = server.running.services
      const sql = 'select state, attempts, error from webhook_delivery where webhook_key = ?'
      assert.deepEqual(await db.all(sql, webhook.id), [
        { state: 2, attempts: 1, error: 'Not sent: the account that made the webhook is not active.' },
      ])
      clock = NOON
    })
  }

  it('are retried with growing delays, and given up in the end', async () => {
    clock = NOON
    await using receiver = await WebhookReceiver.start()
    receiver.answer = (_request, response) => void response.writeHead(503).end('not now')
    const { space, one } = await hooked(receiver)
    await space.file('/a')
    await told(space)
    for (const [tries, seconds] of RETRY_SECONDS.entries()) {
      assert.equal(receiver.calls.length, tries + 1)
      const [delivery] = await deliveriesOf(space.client, one)
      assert.deepEqual(
        [delivery.state, delivery.attempts, delivery.status_code, delivery.response, delivery.error],
        ['pending', tries + 1, 503, 'not now', 'The receiver answered with 503.'],
      )
      clock += seconds - 1
      await settled()
      assert.equal(receiver.calls.length, tries + 1, 'not before its time')
      clock += 1
      await settled()
    }
    const [delivery] = await deliveriesOf(space.client, one)
    assert.deepEqual([delivery.state, delivery.attempts], ['failed', RETRY_SECONDS.length + 1])
    assert.equal(delivery.next_attempt_at, '')
    assert.equal(new Set(receiver.calls.map(({ headers }) => headers['x-carrel-delivery'])).size, 1)
    clock += 1_000_000
    await settled()
    assert.equal(receiver.calls.length, RETRY_SECONDS.length + 1)
    clock = NOON
  })

  it('stay delivered if a process that stood still ends its own attempt later', async () => {
    clock = NOON
    const { db } = server.running.services
    await using receiver = await WebhookReceiver.start()
    const held = Promise.withResolvers<ServerResponse>()
    receiver.answer = (_request, response) => held.resolve(response)
    const { space, one } = await hooked(receiver)
    await space.file('/a')
    await space.client.get('/api/v2.1/activities/')
    const response = await held.promise
    const [row] = await db.all<{ key: number }>('select max(key) as key from webhook_delivery')
    // Another process takes the delivery over when the lease has ended.
    const taken = await db.write((tx) => claimDelivery(tx, row?.key ?? 0, clock + 60, clock + 90))
    const attempt = { status: 200, answer: 'ok', error: '' }
    await db.write((tx) => setDelivered(tx, taken ?? assert.fail('still leased'), attempt, clock + 60))
    response.writeHead(500).end()
    await settled()
    const [delivery] = await deliveriesOf(space.client, one)
    assert.deepEqual([delivery.state, delivery.attempts, delivery.status_code], ['delivered', 1, 200])
    assert.equal(receiver.calls.length, 1)
  })

  it('can be redelivered unchanged', async () => {
    await using receiver = await WebhookReceiver.start()
    const { space, webhook, one } = await hooked(receiver)
    await space.file('/a')
    await told(space)
    const [sent] = await deliveriesOf(space.client, one)
    assert.deepEqual(
      [sent.state, sent.attempts, sent.status_code, sent.response, sent.error, sent.body],
      ['delivered', 1, 200, 'ok', '', receiver.calls[0]?.body],
    )
    const again = await space.client.post(`${one}deliveries/${sent.id}/redeliver/`)
    assert.equal(again.status, 200, again.text)
    assert.notEqual(again.body.delivery.id, sent.id)
    await settled()
    const [, call] = receiver.calls
    assert.ok(call)
    assert.equal(call.text, receiver.calls[0]?.text)
    assert.equal(call.headers['x-carrel-delivery'], again.body.delivery.id)
    assert.ok(isSigned(call, webhook.settings.secret))
    const all = await deliveriesOf(space.client, one)
    assert.deepEqual([all.length, all[0].id], [2, again.body.delivery.id])
    assert.deepEqual(await deliveriesOf(space.client, one, { page: 2, per_page: 1 }), [all[1]])
    for (const id of [UNKNOWN, 'x', '../..']) {
      const reply = await space.client.post(`${one}deliveries/${encodeURIComponent(id)}/redeliver/`)
      assert.equal(reply.status, 404, id)
    }
  })

  it('are disabled after repeated failures, until their owner enables them', async () => {
    clock = NOON
    await using receiver = await WebhookReceiver.start()
    receiver.answer = (_request, response) => void response.writeHead(302, { Location: '/other' }).end()
    const { space, webhook, one } = await hooked(receiver)
    for (const name of ['/1', '/2', '/3', '/4', '/5', '/6']) await space.file(name)
    await told(space)
    for (const seconds of RETRY_SECONDS) {
      clock += seconds
      await settled()
    }
    assert.ok(receiver.calls.every(({ path: called }) => called === '/hook'))
    const shown = async () =>
      (await space.client.get(space.v21('webhooks/'))).body.webhook_list[0].is_valid as boolean
    assert.equal(await shown(), false)
    const before = receiver.calls.length
    await space.file('/7')
    await told(space)
    assert.equal(receiver.calls.length, before)
    receiver.answer = (_request, response) => void response.end()
    const put = await space.client.put(one, { form: { is_valid: 'true' } })
    assert.equal(put.body.webhook.id, webhook.id)
    await space.file('/8')
    await told(space)
    assert.equal(await shown(), true)
    assert.equal(receiver.calls.at(-1)?.body.changes[0].path, '/8')
    clock = NOON
  })

  it('that hang delay neither other webhooks nor requests', async () => {
    await using slow = await WebhookReceiver.start()
    await using quick = await WebhookReceiver.start()
    slow.answer = () => {}
    const hanging = await hooked(slow)
    const working = await hooked(quick)
    await hanging.space.file('/a')
    await hanging.space.file('/b')
    await hanging.space.client.get('/api/v2.1/activities/')
    await slow.called(1)
    await working.space.file('/c')
    await working.space.client.get('/api/v2.1/activities/')
    assert.equal((await quick.called(1)).length, 1)
    assert.equal(slow.calls.length, 1, 'one at a time')
  })

  it('drop queued events when they are deleted', async () => {
    await using receiver = await WebhookReceiver.start()
    receiver.answer = (_request, response) => void response.writeHead(500).end()
    const { space, one } = await hooked(receiver)
    await space.file('/a')
    await told(space)
    assert.equal((await space.client.delete(one)).status, 200)
    clock += RETRY_SECONDS[0] ?? 0
    await settled()
    assert.equal(receiver.calls.length, 1)
    clock = NOON
  })
})

describe('webhooks of a stopped server', () => {
  it('receive queued events after the restart', async () => {
    await using receiver = await WebhookReceiver.start()
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-webhooks-'))
    const env = { CARREL_WEBHOOK_PRIVATE: 'on' }
    let now = NOON
    try {
      receiver.answer = (_request, response) => void response.writeHead(500).end()
      {
        await using first = await startServer({ data, env, now: () => now })
        const { space } = await hooked(receiver, first)
        await space.file('/a')
        await told(space, first)
        assert.equal(receiver.calls.length, 1)
        // This one may or may not be processed when the server stops; both are fine.
        await space.file('/b')
      }
      receiver.answer = (_request, response) => void response.end()
      now += RETRY_SECONDS[1] ?? 0
      await using second = await startServer({ data, env, now: () => now })
      await receiver.called(3)
      await settled(second)
      const taken = receiver.calls.slice(1).map(({ body }) => body.changes[0].path)
      assert.deepEqual(new Set(taken), new Set(['/a', '/b']))
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})

describe('webhooks to private addresses', () => {
  let own: TestServer
  before(async () => {
    own = await startServer({ now: () => NOON })
  })
  after(() => own[Symbol.asyncDispose]())

  it('cannot be created', async () => {
    const space = await Workspace.make(own)
    for (const host of [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '169.254.169.254',
      '10.0.0.1',
      '172.16.5.4',
      '192.168.1.1',
      '[::1]',
      '[fe80::1]',
      '[fd00::1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '0.0.0.0',
    ]) {
      assertError(await add(space, { url: `http://${host}/` }), 400, 'url invalid.', host)
    }
  })

  it('are not called, whatever their host name', async () => {
    await using receiver = await WebhookReceiver.start()
    const space = await Workspace.make(own)
    const { port } = new URL(receiver.url)
    const made = await add(space, { url: `http://localhost:${port}/` })
    assert.equal(made.status, 200, made.text)
    await space.file('/a')
    await told(space, own)
    const [delivery] = await deliveriesOf(space.client, space.v21(`webhooks/${made.body.webhook.id}/`))
    assert.deepEqual(
      [delivery.state, delivery.status_code, delivery.error],
      ['pending', null, 'The address of the receiver is private, so it is not called.'],
    )
    assert.deepEqual(receiver.calls, [])
  })
})
