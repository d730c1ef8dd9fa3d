import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client, type Reply } from '../support/client.ts'
import { carrelProcess } from '../support/command.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { personalToken } from '../support/tokens.ts'
import { uploadFile } from '../support/transfer.ts'
import { asking, DavClient } from '../webdav/dav-client.ts'
import { shareWith } from './sharing-support.ts'

const PASSWORD = 'pass word 1'

describe('the audit log has the same entries of an action, whichever protocol asked for it', () => {
  let server: TestServer
  let admin: Client
  let ann: Client
  let ben: Client
  let library = ''
  before(async () => {
    server = await startServer()
    admin = await server.admin()
    ann = await server.signUp({ password: PASSWORD })
    ben = await server.signUp({ password: PASSWORD })
    library = await ann.createLibrary('Team')
    await shareWith(ann, library, ben, { permission: 'rw' })
    await uploadFile(ann, library, '/a.txt', 'a')
    // The first use of WebDAV on a day is an entry of its own.
    for (const { email } of [ann, ben]) await davOf(email).propfind('/dav/', '0')
  })
  after(() => server[Symbol.asyncDispose]())

  const davOf = (email: string, password = PASSWORD) => new DavClient(server.url, email, password)

  /** The entries written while `work` ran, oldest first, without their numbers and times. */
  const recorded = async (work: () => Promise<unknown>) => {
    const list = async (): Promise<{ id: number; time: string }[]> =>
      (await admin.get('/api/v2.1/admin/audit-log/', { per_page: 100 })).body.entries
    const newest = (await list())[0]?.id ?? 0
    await work()
    return (await list())
      .filter(({ id }) => id > newest)
      .map(({ id: _id, time: _time, ...entry }) => entry)
      .toReversed()
  }

  const lockByDav = (email: string, path: string) => davOf(email).lock(path, { Depth: 'infinity' })
  /** The token of the lock of an item, as everybody is shown it. */
  const tokenOf = async (dav: DavClient, path: string) => {
    const { text } = await dav.propfind(path, '0', asking('lockdiscovery'))
    return `<${/<d:locktoken><d:href>([^<]*)/.exec(text)?.[1]}>`
  }
  const unlockByDav = async (dav: DavClient, path: string): Promise<Reply> =>
    dav.call('UNLOCK', path, { headers: { 'Lock-Token': await tokenOf(dav, path) } })

  it('one of a lock that its holder did not end', async () => {
    const file = `/api/v2.1/repos/${library}/file/`
    const unlock = { query: { p: '/a.txt' }, form: { operation: 'unlock' } }
    const calls: Record<string, () => Promise<Reply>> = {
      'web API, file': () => ann.put(file, unlock),
      'web API, locks': () => ann.delete(`/api/v2.1/repos/${library}/locks/`, { query: { p: '/a.txt' } }),
      WebDAV: () => unlockByDav(davOf(ann.email), '/dav/Team/a.txt'),
    }
    const entry = {
      actor: ann.email,
      address: '127.0.0.1',
      action: 'lock-forced',
      object_kind: 'library',
      object_id: library,
      path: '/a.txt',
      detail: { name: 'Team' },
    }
    for (const [name, call] of Object.entries(calls)) {
      await lockByDav(ben.email, '/dav/Team/a.txt')
      const entries = await recorded(async () => {
        const reply = await call()
        assert.ok(reply.status < 300, `${name}: ${reply.status} ${reply.text}`)
      })
      assert.deepEqual(entries, [entry], name)
    }
  })

  it('none of a lock that may not be broken, and none of a lock of the caller', async () => {
    const sync = await SyncClient.link(ann, library)
    const entries = await recorded(async () => {
      await lockByDav(ben.email, '/dav/Team/a.txt')
      assert.equal((await sync.call('PUT', 'unlock-file?p=a.txt', '')).status, 403)
      assert.equal((await unlockByDav(davOf(ben.email), '/dav/Team/a.txt')).status, 204)
      for (const one of ['lock', 'unlock'])
        assert.equal((await sync.call('PUT', `${one}-file?p=a.txt`, '')).status, 200)
    })
    assert.deepEqual(entries, [])
  })

  it('none of a changed file', async () => {
    const sync = await SyncClient.link(ann, library)
    const dav = davOf(ann.email)
    const calls: Record<string, () => Promise<unknown>> = {
      'web API': () =>
        ann.post(`/api2/repos/${library}/dir/`, { query: { p: '/made' }, form: { operation: 'mkdir' } }),
      'web API, deletion': () => ann.delete(`/api2/repos/${library}/dir/`, { query: { p: '/made' } }),
      transfer: () => uploadFile(ann, library, '/b.txt', 'b'),
      WebDAV: () => dav.put('/dav/Team/c.txt', 'c'),
      'WebDAV, deletion': () => dav.call('DELETE', '/dav/Team/c.txt'),
      sync: () => sync.push({ 'a.txt': 'a', 'd.txt': 'd' }),
    }
    for (const [name, call] of Object.entries(calls)) {
      assert.deepEqual(await recorded(call), [], name)
    }
  })

  /** Runs an operation by each of its surfaces. Each run writes the same entry, but for `detail`, `actor` and `address`, which tell them apart. */
  const holdEach = async (
    calls: Record<string, () => Promise<{ readonly status?: number; readonly code?: number | null }>>,
    entry: Record<string, unknown>,
  ) => {
    for (const [name, call] of Object.entries(calls)) {
      const entries = await recorded(async () => {
        const { status = 200, code = 0 } = await call()
        assert.deepEqual([status < 300 || status === 400 || status === 401, code], [true, 0], name)
      })
      assert.equal(entries.length, 1, `${name}: ${JSON.stringify(entries)}`)
      assert.partialDeepStrictEqual(entries[0], entry, name)
    }
  }
  const users = '/api/v2.1/admin/users/'
  const older = '/api2/accounts/'
  const command = (...args: string[]) => {
    const database = server.databaseUrl === undefined ? [] : ['--database', server.databaseUrl]
    return carrelProcess(['user', ...args, '--data', server.data, ...database], { input: 'another password' })
  }

  it('one of an account that was made, changed or removed, by the web API or a command', async () => {
    const email = 'cid@example.org'
    const on = (action: string, object = email) => ({ action, object_kind: 'account', object_id: object })
    const made: Record<string, (one: string) => Promise<{ status?: number; code?: number | null }>> = {
      'web API': (one) => admin.post(users, { form: { email: one, password: PASSWORD } }),
      'web API, v2': (one) => admin.put(`${older}${one}/`, { form: { password: PASSWORD } }),
      command: (one) => command('add', one, '--password-stdin'),
    }
    const removed = [
      (one: string) => admin.delete(`${users}${one}/`),
      (one: string) => admin.delete(`${older}${one}/`),
      (one: string) => command('remove', one, '--yes'),
    ]
    for (const [index, [name, make]] of Object.entries(made).entries()) {
      const one = `made${index}@example.org`
      await holdEach({ [name]: () => make(one) }, on('account-made', one))
      await holdEach({ [name]: () => removed[index]?.(one) ?? assert.fail() }, on('account-deleted', one))
    }
    await admin.post(users, { form: { email, password: PASSWORD } })
    const contact = ['verify-contact', email, 'cid@example.com']
    await holdEach(
      {
        'web API': () => admin.put(`${users}${email}/`, { form: { name: 'Cid' } }),
        'web API, v2': () => admin.put(`${older}${email}/`, { form: { name: 'Sid' } }),
        command: () => command(...contact),
      },
      on('account-changed'),
    )
    const own = await Client.signIn(server.url, email, PASSWORD)
    const next = { old_password: PASSWORD, new_password: 'a third password' }
    await holdEach(
      {
        'web API, own': () => own.post('/api/v2.1/user/reset-password/', { form: next }),
        'web API': () => admin.put(`${users}${email}/reset-password/`),
        command: () => command('password', email, '--password-stdin'),
      },
      on('password-changed'),
    )
  })

  it('one of a sign-in, a refused one and a sign-out, by each protocol', async () => {
    // Test accounts with one password have one hash, and are one client to WebDAV.
    const secret = 'a password of her own'
    const dora = await server.signUp({ password: secret })
    const of = (action: string) => ({
      actor: dora.email,
      address: '127.0.0.1',
      action,
      object_kind: 'account',
      object_id: dora.email,
    })
    const signIn = (password: string) =>
      server.anonymous.post('/api2/auth-token/', { form: { username: dora.email, password } })
    const browser = { device_id: 'c'.repeat(40), device_name: 'Browser' }
    const byClient = async () => {
      const { body } = await dora.post('/api2/client-login/')
      return server.anonymous.post('/api/v2.1/client-login/', { form: { token: body.token, ...browser } })
    }
    await holdEach(
      {
        'web API': () => signIn(secret),
        'web API, by a client': byClient,
        WebDAV: () => davOf(dora.email, secret).propfind('/dav/', '0'),
      },
      of('login'),
    )
    await holdEach(
      {
        'web API': () => signIn('a guess'),
        WebDAV: () => davOf(dora.email, 'a guess').propfind('/dav/', '0'),
      },
      of('login-failed'),
    )
    const session = async () => new Client(server.url, (await signIn(secret)).body.token, dora.email)
    const [one, other] = [await byDevice('1'), await byDevice('2')]
    const { sessions } = (await one.get('/api/v2.1/sessions/')).body
    const key = sessions.find((each: { is_current: boolean }) => each.is_current).id
    const third = await session()
    await holdEach(
      {
        'web API, v2': () => other.post('/api2/logout-device/'),
        'web API, one session': () => third.delete(`/api/v2.1/sessions/${key}/`),
        'web API, all sessions': () => third.delete('/api/v2.1/sessions/'),
      },
      of('logout'),
    )

    async function byDevice(digit: string): Promise<Client> {
      const device = { platform: 'linux', device_id: digit.repeat(40), device_name: digit }
      const versions = { client_version: '9.0.0', platform_version: '1' }
      const form = { username: dora.email, password: secret, ...device, ...versions }
      const { body } = await server.anonymous.post('/api2/auth-token/', { form })
      return new Client(server.url, body.token, dora.email)
    }
  })

  it('one of a token and of a device that ended, by their holder and by an administrator', async () => {
    const eli = await server.signUp({ password: PASSWORD })
    const device = (digit: string) => ({ platform: 'linux', device_id: digit.repeat(40) })
    for (const digit of ['a', 'b', 'c']) {
      const versions = { device_name: digit, client_version: '9.0.0', platform_version: '1' }
      const form = { username: eli.email, password: PASSWORD, ...device(digit), ...versions }
      assert.equal((await server.anonymous.post('/api2/auth-token/', { form })).status, 200)
    }
    await holdEach(
      {
        own: () => eli.delete('/api2/devices/', { form: device('a') }),
        'own, wiped': () => eli.delete('/api2/devices/', { form: { ...device('c'), wipe_device: true } }),
        administrator: () =>
          admin.delete('/api/v2.1/admin/devices/', { form: { ...device('b'), user: eli.email } }),
      },
      { action: 'device-unlinked', object_kind: 'device', detail: { email: eli.email, platform: 'linux' } },
    )
    const [token, other] = [
      await personalToken(eli, { permission: 'r' }),
      await personalToken(eli, { permission: 'r', name: 'other' }),
    ]
    await holdEach(
      {
        'web API': () => eli.delete(`/api/v2.1/personal-tokens/${token.id}/`),
        'web API, by the token': () => other.post('/api2/logout-device/'),
      },
      { actor: eli.email, action: 'api-token-revoked', object_kind: 'account', object_id: eli.email },
    )
  })

  it('any number of an administrator', async () => {
    const { audit, core } = server.running.services
    const boss = await server.signUp({ password: PASSWORD })
    const mine = await boss.createLibrary('Own')
    await shareWith(boss, mine, ben, { permission: 'rw' })
    await uploadFile(boss, mine, '/a.txt', 'a')
    await davOf(boss.email).propfind('/dav/', '0')
    await admin.put(`/api/v2.1/admin/users/${boss.email}/`, { form: { is_staff: 'true' } })
    const entry = { action: 'lock-forced', objectKind: 'library', objectId: mine } as const
    await dbOf(core).write(async (tx) => {
      for (let count = 0; count < 3600; count += 1) {
        await audit.record(tx, { actor: boss.email, address: '' }, entry).catch(() => {})
      }
    })
    for (const end of [
      () => boss.delete(`/api/v2.1/repos/${mine}/locks/`, { query: { p: '/a.txt' } }),
      () => unlockByDav(davOf(boss.email), '/dav/Own/a.txt'),
    ]) {
      await lockByDav(ben.email, '/dav/Own/a.txt')
      const reply = await end()
      assert.ok(reply.status < 300, `${reply.status} ${reply.text}`)
    }
  })
})
