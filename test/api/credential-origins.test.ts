import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from '../support/client.ts'
import { createEncrypted, PASSWORD as LIBRARY_PASSWORD, openEncrypted } from '../support/encrypted.ts'
import { SyncClient } from '../support/sync-client.ts'
import { libraryToken, personalToken } from '../support/tokens.ts'
import { postForm, updateLink, uploadFile, uploadLink } from '../support/transfer.ts'
import { startTwoServers, type TwoServers } from '../support/two-servers.ts'
import { everyTicket, PASSWORD, signIn, signInOn, type Transfer } from './credential-support.ts'
import { shareWith, unshare } from './sharing-support.ts'

let servers: TwoServers
before(async () => {
  servers = await startTwoServers()
})
after(() => servers[Symbol.asyncDispose]())

const signUp = () => servers.here.signUp({ password: PASSWORD })
const ok = (reply: { status: number; text: string }) => assert.equal(reply.status, 200, reply.text)

/** Asserts that every transfer works repeatedly on both servers. */
async function expectOpen(transfers: Record<string, Transfer>): Promise<void> {
  for (const at of [servers.here.url, servers.there.url, servers.here.url]) {
    for (const [kind, { use }] of Object.entries(transfers)) assert.equal(await use(at), 200, kind)
  }
}

/** Asserts that the next request of every transfer is rejected on both servers. */
async function expectEnded(transfers: Record<string, Transfer>): Promise<void> {
  const left: string[] = []
  for (const at of [servers.there.url, servers.here.url]) {
    for (const [kind, { use }] of Object.entries(transfers)) {
      const status = await use(at)
      if (status !== 403 && status !== 404) left.push(`${kind} answers ${status} at ${at}`)
    }
  }
  assert.deepEqual(left, [])
}

/** Ways to revoke a ticket. Each gets the account that asked for it and acts on the server that is not asked next. */
const ends: Record<string, (client: Client, library: string) => Promise<void>> = {
  'a new password': async (client) => {
    const form = { old_password: PASSWORD, new_password: 'another long password' }
    ok(await client.post('/api/v2.1/user/reset-password/', { form }))
  },
  'signing out the session it was issued for': async (client) => {
    ok(await client.post('/api2/logout-device/'))
  },
  'signing out everywhere': async (client) => {
    ok(await (await signInOn(client.url, client.email, 'another')).delete('/api/v2.1/sessions/'))
  },
  'deactivation and later activation': async (client) => {
    const admin = await servers.here.admin()
    const path = `/api/v2.1/admin/users/${client.email}/`
    ok(await admin.put(path, { form: { is_active: 'false' } }))
    ok(await admin.put(path, { form: { is_active: 'true' } }))
  },
  'deleting and restoring its library': async (client, library) => {
    ok(await client.delete(`/api2/repos/${library}/`))
    ok(await client.post('/api/v2.1/deleted-repos/', { form: { repo_id: library } }))
  },
  'transferring its library': async (client, library) => {
    const other = await signUp()
    ok(await client.put(`/api2/repos/${library}/owner/`, { form: { owner: other.email } }))
  },
}

describe('used tickets of every kind are revoked at once by', () => {
  for (const [way, end] of Object.entries(ends)) {
    it(way, async () => {
      const user = await signUp()
      const library = await user.createLibrary()
      const transfers = await everyTicket(await signIn(servers.here.url, user.email), library)
      await expectOpen(transfers)
      await end(user, library)
      await expectEnded(transfers)
    })
  }

  it('unsharing and reducing the share to read-only', async () => {
    const [owner, guest] = [await signUp(), await signUp()]
    const library = await owner.createLibrary()
    await shareWith(owner, library, guest)
    const transfers = await everyTicket(guest, library)
    await expectOpen(transfers)
    ok(
      await owner.post(`/api2/repos/${library}/dir/shared_items/`, {
        query: { p: '/', share_type: 'user', username: guest.email },
        form: { permission: 'r' },
      }),
    )
    const { download, 'download-blocks': blocks, archive, ...writing } = transfers
    await expectEnded(writing)
    for (const reading of [download, blocks, archive]) assert.equal(await reading?.use(), 200)
    await unshare(owner, library, guest)
    await expectEnded(transfers)
  })

  it('revoking the personal token they were issued for', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'a')
    const script = await personalToken(user, { permission: 'rw' })
    const link = await uploadLink(script, library)
    const send = (at: string) =>
      postForm(at + new URL(link).pathname, [['parent_dir', '/'], { filename: 'b.txt', bytes: 'b' }])
    ok(await send(servers.there.url))
    ok(await user.delete(`/api/v2.1/personal-tokens/${script.id}/`))
    assert.equal((await send(servers.there.url)).status, 403)
  })

  it('no sign-out of another session', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    const other = await signInOn(servers.here.url, user.email, 'desk')
    const transfers = await everyTicket(other, library)
    ok(await user.post('/api2/logout-device/'))
    await expectOpen(transfers)
  })
})

describe('an upload in progress', () => {
  it('is rejected at its commit once the session is signed out', async (t) => {
    const user = await signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const { core, tickets } = servers.here.running.services
    const present = tickets.present.bind(tickets)
    const presented = Promise.withResolvers<void>()
    t.mock.method(tickets, 'present', async (ticket: string) => {
      const use = await present(ticket)
      presented.resolve()
      return use
    })
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const part = (text: string) => writer.write(Buffer.from(text))
    const sending = fetch(link, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: readable,
      duplex: 'half',
    })
    await part('--b\r\nContent-Disposition: form-data; name="parent_dir"\r\n\r\n/\r\n')
    await part('--b\r\nContent-Disposition: form-data; name="file"; filename="late.txt"\r\n\r\nlate')
    await presented.promise
    ok(await user.post('/api2/logout-device/'))
    await part('\r\n--b--\r\n')
    await writer.close()
    assert.equal((await sending).status, 403)
    const row = await dbOf(core).get('select file_count from library where id = ?', library)
    assert.equal(row?.file_count, 0)
  })
})

describe('an update ticket', () => {
  const replace = (link: string, target: string, bytes = 'new') =>
    postForm(link, [['target_file', target], { filename: 'x', bytes }])

  it('replaces only the file it is first used for', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    for (const path of ['/a.txt', '/docs/b.txt', '/docs/c.txt']) await uploadFile(user, library, path, 'old')
    const link = await updateLink(user, library)
    // An entry that cannot be replaced does not bind the ticket.
    assert.equal((await replace(link, '/none.txt')).status, 441)
    ok(await replace(link, '/docs/b.txt'))
    ok(await replace(link, '/docs/b.txt', 'newer'))
    for (const other of ['/a.txt', '/docs/c.txt']) assert.equal((await replace(link, other)).status, 403)
    const elsewhere = servers.there.url + new URL(link).pathname
    assert.equal((await replace(elsewhere, '/a.txt')).status, 403)
  })

  it('replaces one of several files sent at once', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    const names = ['/a.txt', '/b.txt', '/c.txt', '/d.txt']
    for (const path of names) await uploadFile(user, library, path, 'old')
    const link = await updateLink(user, library)
    const there = servers.there.url + new URL(link).pathname
    const replies = await Promise.all(names.map((path, n) => replace(n % 2 === 0 ? link : there, path)))
    assert.deepEqual(
      replies.map(({ status }) => status).sort((a, b) => a - b),
      [200, 403, 403, 403],
    )
  })

  it('stays within its folder, or on its file', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    for (const path of ['/a.txt', '/docs/b.txt', '/docs/deep/c.txt'])
      await uploadFile(user, library, path, 'old')
    const ofFolder = await updateLink(user, library, { p: '/docs' })
    assert.equal((await replace(ofFolder, '/a.txt')).status, 403)
    ok(await replace(ofFolder, '/docs/deep/c.txt'))
    const ofFile = await updateLink(user, library, { p: '/docs/b.txt' })
    assert.equal((await replace(ofFile, '/docs/deep/c.txt')).status, 403)
    ok(await replace(ofFile, '/docs/b.txt'))
  })

  it('by blocks is bound in the same way', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    for (const path of ['/a.txt', '/b.txt']) await uploadFile(user, library, path, 'old')
    const { body: link } = await user.get(`/api2/repos/${library}/update-blks-link/`, { p: '/' })
    const empty = (target_file: string) =>
      new Client(link).post('?commitonly=true', { form: { target_file, file_size: 0, blockids: '[]' } })
    ok(await empty('/a.txt'))
    assert.equal((await empty('/b.txt')).status, 403)
    ok(await empty('/a.txt'))
  })
})

describe('a sync token', () => {
  const read = async (sync: SyncClient, url: string) =>
    (await new SyncClient(url, sync.library, sync.token, sync.email).call('GET', 'commit/HEAD')).status

  it('reads nothing after unsharing, not even objects', async () => {
    const [owner, guest] = [await signUp(), await signUp()]
    const library = await owner.createLibrary()
    await uploadFile(owner, library, '/a.txt', 'secret')
    await shareWith(owner, library, guest, { permission: 'r' })
    const sync = await SyncClient.link(guest, library)
    const head = await sync.head()
    const list = `fs-id-list/?server-head=${head}`
    const there = new SyncClient(servers.there.url, library, sync.token, sync.email)
    for (const one of [sync, there]) ok(await one.call('GET', list))
    await unshare(owner, library, guest)
    for (const one of [sync, there]) {
      for (const path of [list, `commit/${head}`, 'commit/HEAD']) {
        assert.equal((await one.call('GET', path)).status, 403, path)
      }
    }
  })

  it('is revoked with its device, although the request never named the device', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    const laptop = await signInOn(servers.here.url, user.email, 'laptop')
    const [ofLaptop, ofOther] = [await SyncClient.link(laptop, library), await SyncClient.link(user, library)]
    assert.equal(await read(ofLaptop, servers.there.url), 200)
    const [device] = (await user.get('/api2/devices/')).body
    ok(await user.delete('/api2/devices/', { form: { platform: 'linux', device_id: device.device_id } }))
    for (const url of [servers.here.url, servers.there.url]) {
      assert.equal(await read(ofLaptop, url), 403)
      assert.equal(await read(ofOther, url), 200)
    }
    ok(await user.post('/api2/logout-device/'))
    assert.equal(await read(ofOther, servers.there.url), 403)
  })

  it('is revoked by a device wipe and by signing out everywhere', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    const laptop = await signInOn(servers.here.url, user.email, 'laptop')
    const ofLaptop = await SyncClient.link(laptop, library)
    const [device] = (await user.get('/api2/devices/')).body
    const form = { platform: 'linux', device_id: device.device_id, wipe_device: true }
    ok(await user.delete('/api2/devices/', { form }))
    assert.equal(await read(ofLaptop, servers.there.url), 403)
    const again = await signInOn(servers.here.url, user.email, 'laptop')
    const anew = await SyncClient.link(again, library)
    assert.equal(await read(ofLaptop, servers.there.url), 403)
    assert.equal(await read(anew, servers.there.url), 200)
    ok(await user.delete('/api/v2.1/sessions/'))
    assert.equal(await read(anew, servers.there.url), 403)
  })
})

describe('a share link', () => {
  const visit = async (link: string, url: string) => (await fetch(url + new URL(link).pathname)).status

  it('is revoked with the library token that created it', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'a')
    const app = await libraryToken(user, library, 'rw', 'shop')
    const made = await app.post('/api/v2.1/via-repo-token/share-links/', { json: { path: '/a.txt' } })
    ok(made)
    const direct = `http://x/seafhttp/f/${made.body.token}/`
    for (const link of [made.body.link, direct]) assert.equal(await visit(link, servers.there.url), 200)
    ok(await user.delete(`/api/v2.1/repos/${library}/repo-api-tokens/shop/`))
    for (const url of [servers.here.url, servers.there.url]) {
      for (const link of [made.body.link, direct]) assert.equal(await visit(link, url), 404, link)
    }
  })

  it('of an app is separate from a link of the owner, and neither sees the other', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'a')
    const own = await user.post('/api/v2.1/share-links/', { json: { repo_id: library, path: '/a.txt' } })
    ok(own)
    const app = await libraryToken(user, library, 'rw', 'shop')
    const made = await app.post('/api/v2.1/via-repo-token/share-links/', { json: { path: '/a.txt' } })
    ok(made)
    assert.ok(!made.text.includes(own.body.token))
    ok(await user.delete(`/api/v2.1/repos/${library}/repo-api-tokens/shop/`))
    assert.equal(await visit(made.body.link, servers.there.url), 404)
    assert.equal(await visit(own.body.link, servers.there.url), 200)
  })

  it('of a session survives signing out, and is disabled while its creator may not create links', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'a')
    const made = await user.post('/api/v2.1/share-links/', { json: { repo_id: library, path: '/a.txt' } })
    ok(made)
    ok(await user.post('/api2/logout-device/'))
    assert.equal(await visit(made.body.link, servers.there.url), 200)
    const admin = await servers.here.admin()
    const path = `/api/v2.1/admin/users/${user.email}/`
    ok(await admin.put(path, { form: { role: 'guest' } }))
    assert.equal(await visit(made.body.link, servers.there.url), 404)
    ok(await admin.put(path, { form: { role: 'default' } }))
    assert.equal(await visit(made.body.link, servers.there.url), 200)
  })

  it('issues tickets that stay revoked when the link is disabled and enabled again', async () => {
    const user = await signUp()
    const library = await user.createLibrary()
    const made = await user.post('/api/v2.1/upload-links/', { json: { repo_id: library, path: '/' } })
    ok(made)
    const { token } = made.body
    const asked = await servers.here.anonymous.get(`/api/v2.1/upload-links/${token}/upload/`)
    ok(asked)
    const send = (at: string, name: string) =>
      postForm(at + new URL(asked.body.upload_link).pathname, [
        ['parent_dir', '/'],
        { filename: name, bytes: 'x' },
      ])
    ok(await send(servers.there.url, 'a'))
    for (const is_active of [false, true]) {
      ok(await user.put(`/api/v2.1/upload-links/${token}/`, { json: { is_active } }))
    }
    for (const url of [servers.here.url, servers.there.url]) assert.equal((await send(url, 'b')).status, 403)
  })

  it('for named people issues tickets that are revoked with their session', async () => {
    const [user, friend] = [await signUp(), await signUp()]
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'a')
    const json = { repo_id: library, path: '/a.txt', user_scope: 'specific_users', emails: [friend.email] }
    const made = await user.post('/api/v2.1/share-links/', { json })
    ok(made)
    const { pathname } = new URL(made.body.link)
    const sent = await friend.call('GET', `${pathname}?dl=1`)
    assert.equal(sent.status, 302, sent.text)
    const file = new URL(sent.headers.get('location') ?? '').pathname
    assert.equal((await fetch(servers.there.url + file)).status, 200)
    ok(await friend.post('/api2/logout-device/'))
    assert.equal((await fetch(servers.there.url + file)).status, 403)
  })
})

describe('an unlocked encrypted library', () => {
  it('is locked by signing out, for the next session too', async () => {
    const user = await signUp()
    const laptop = await signInOn(servers.here.url, user.email, 'laptop')
    const { id } = await createEncrypted(user, 2)
    await openEncrypted(laptop, id, LIBRARY_PASSWORD)
    const isClosed = async (client: Client) =>
      (await client.get(`/api/v2.1/repos/${id}/`)).body.lib_need_decrypt as boolean
    assert.equal(await isClosed(laptop), false)
    // A password entered in one session does not unlock the library for another.
    assert.equal(await isClosed(user), true)
    // On the other server, which shares no memory with this one.
    ok(await new Client(servers.there.url, laptop.token).post('/api2/logout-device/'))
    assert.equal(await isClosed(await signInOn(servers.here.url, user.email, 'laptop')), true)
  })
})
