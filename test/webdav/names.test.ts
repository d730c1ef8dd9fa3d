import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Database } from '../../src/platform/database/index.ts'
import { Access, LibraryNames } from '../../src/sharing/access/index.ts'
import { looksLikeSnapshot } from '../../src/surfaces/webdav/index.ts'
import { makeGroup, shareWith, shareWithGroup, unshare } from '../api/sharing-support.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { DavClient } from './dav-client.ts'

const PASSWORD = 'pass word 1'

describe('names in the WebDAV root', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  async function signUp(): Promise<{ user: Client; dav: DavClient }> {
    const user = await server.signUp({ password: PASSWORD })
    return { user, dav: new DavClient(server.url, user.email, PASSWORD) }
  }

  const url = (name: string, file = '') => `/dav/${encodeURIComponent(name)}/${file}`
  const withId = (name: string, id: string) => `${name} (${id.slice(0, 6)})`
  const rename = async (owner: Client, id: string, name: string) => {
    const reply = await owner.post(`/api2/repos/${id}/?op=rename`, { form: { repo_name: name } })
    assert.equal(reply.status, 200, reply.text)
  }
  const files = async (client: Client, id: string) =>
    (await client.get(`/api2/repos/${id}/dir/`, { p: '/' })).body.map(({ name }: { name: string }) => name)

  it('stay with their libraries when an older one is renamed and shared', async () => {
    const stranger = await server.signUp()
    const old = await stranger.createLibrary('Old')
    const friend = await server.signUp()
    const team = await friend.createLibrary('Team')
    const { user, dav } = await signUp()
    await shareWith(friend, team, user)
    assert.equal((await dav.put(url('Team', 'first.txt'), '1')).status, 201)
    await rename(stranger, old, 'Team')
    await shareWith(stranger, old, user)
    assert.equal((await dav.put(url('Team', 'second.txt'), '2')).status, 201)
    assert.deepEqual(await files(friend, team), ['first.txt', 'second.txt'])
    assert.deepEqual(await files(stranger, old), [])
    assert.deepEqual(await dav.names('/dav/'), ['Team', withId('Team', old)])
    // A copy goes where the path always led, too.
    const headers = { Destination: `${server.url}${url('Team', 'copy.txt')}` }
    assert.equal((await dav.call('COPY', url('Team', 'first.txt'), { headers })).status, 201)
    assert.deepEqual(await files(stranger, old), [])
  })

  it('are not given to others when a share ends, and lead to the library again when it is shared again', async () => {
    const friend = await server.signUp()
    const stranger = await server.signUp()
    const [team, theirs] = [await friend.createLibrary('Team'), await stranger.createLibrary('Team')]
    const { user, dav } = await signUp()
    await shareWith(friend, team, user)
    await shareWith(stranger, theirs, user)
    assert.deepEqual(await dav.names('/dav/'), ['Team', withId('Team', theirs)])
    await unshare(friend, team, user)
    for (const method of ['PROPFIND', 'GET', 'PUT', 'DELETE'])
      assert.equal((await dav.call(method, url('Team', 'a.txt'))).status, 404, method)
    assert.equal((await dav.propfind('/dav/@2030-01-01/Team/', '0')).status, 404)
    assert.deepEqual(await dav.names('/dav/'), [withId('Team', theirs)])
    assert.deepEqual(await files(stranger, theirs), [])
    await shareWith(friend, team, user)
    assert.equal((await dav.put(url('Team', 'a.txt'), 'x')).status, 201)
    assert.deepEqual(await files(friend, team), ['a.txt'])
  })

  it('of deleted libraries lead to a new one of the account, and to nothing else', async () => {
    const { user, dav } = await signUp()
    const first = await user.createLibrary('Papers')
    assert.equal((await dav.put(url('Papers', 'a.txt'), 'x')).status, 201)
    assert.equal((await user.delete(`/api2/repos/${first}/`)).status, 200)
    const stranger = await server.signUp()
    const theirs = await stranger.createLibrary('Papers')
    await shareWith(stranger, theirs, user)
    assert.equal((await dav.put(url('Papers', 'b.txt'), 'x')).status, 404)
    const given = await stranger.createLibrary('Papers')
    const moved = await stranger.put(`/api2/repos/${given}/owner/`, { form: { owner: user.email } })
    assert.equal(moved.status, 200, moved.text)
    assert.equal((await dav.put(url('Papers', 'c.txt'), 'x')).status, 404)
    assert.deepEqual(await dav.names('/dav/'), [withId('Papers', given), withId('Papers', theirs)].sort())
    // Purged for good: the name is still taken.
    const admin = await server.admin()
    const purged = await admin.delete(`/api/v2.1/admin/trash-libraries/${first}/`)
    assert.equal(purged.status, 200, purged.text)
    assert.equal((await dav.put(url('Papers', 'c.txt'), 'x')).status, 404)
    const second = await user.createLibrary('Papers')
    assert.equal((await dav.put(url('Papers', 'd.txt'), 'x')).status, 201)
    assert.deepEqual(await files(user, second), ['d.txt'])
  })

  it('of a renamed library all lead to it, and the current one is listed', async () => {
    const { user, dav } = await signUp()
    const id = await user.createLibrary('One')
    assert.equal((await dav.put(url('One', 'a.txt'), 'x')).status, 201)
    await rename(user, id, 'Two')
    assert.deepEqual(await dav.names('/dav/'), ['Two'])
    const next = await user.createLibrary('One')
    assert.deepEqual(await dav.names('/dav/'), [withId('One', next), 'Two'])
    for (const name of ['One', 'Two']) assert.equal((await dav.call('GET', url(name, 'a.txt'))).text, 'x')
    await rename(user, id, 'two')
    assert.deepEqual(await dav.names('/dav/'), [withId('One', next), 'two'])
    await rename(user, id, 'One')
    assert.deepEqual(await dav.names('/dav/'), ['One', withId('One', next)])
    assert.equal((await dav.propfind(url('Two'), '0')).status, 404)
    assert.equal((await dav.call('GET', url('two', 'a.txt'))).text, 'x')
  })

  it('have at most ten rows for a library, and then its whole id', async () => {
    const { user, dav } = await signUp()
    const id = await user.createLibrary('n0')
    for (let round = 1; round <= 12; round++) {
      assert.equal((await dav.names('/dav/')).length, 1)
      await rename(user, id, `n${round}`)
    }
    assert.deepEqual(await dav.names('/dav/'), [`n12 (${id})`])
    for (const name of ['n0', 'n9', `n12 (${id})`])
      assert.equal((await dav.propfind(url(name), '0')).status, 207)
    assert.equal((await dav.propfind(url('n10'), '0')).status, 404)
    const stranger = await signUp()
    assert.equal((await stranger.dav.propfind(url(`n12 (${id})`), '0')).status, 404)
    // A plain name of this form is never the name of another library.
    await stranger.user.createLibrary(`x (${id})`)
    assert.match((await stranger.dav.names('/dav/')).join(), /^x \(.{36}\) \(.{6}\)$/)
  })

  it('are those in force before the upgrade: own libraries first, then the oldest', async () => {
    const friend = await server.signUp()
    const theirs = await friend.createLibrary('Papers')
    const [older, newer] = [await friend.createLibrary('Shared'), await friend.createLibrary('shared')]
    const { user, dav } = await signUp()
    const mine = await user.createLibrary('Papers')
    const group = await makeGroup('Names', friend, user)
    for (const id of [newer, theirs]) await shareWith(friend, id, user)
    await shareWithGroup(friend, older, group)
    const names = ['Papers', withId('Papers', theirs), 'Shared', withId('shared', newer)]
    assert.equal((await dav.put(url('Papers', 'a.txt'), 'x')).status, 201)
    assert.deepEqual(await files(user, mine), ['a.txt'])
    assert.deepEqual(await dav.names('/dav/'), names.sort())
    assert.equal((await dav.propfind(url('papers'), '0')).status, 404)
  })

  it('do not depend on the credential', async () => {
    const { user, dav } = await signUp()
    const [first, second] = [await user.createLibrary('Notes'), await user.createLibrary('notes')]
    const { token } = await personalToken(user, { permission: 'rw', repo_id: second })
    const scoped = new DavClient(server.url, user.email, token ?? assert.fail('no token'))
    assert.equal((await scoped.propfind(url('Notes'), '0')).status, 404)
    assert.deepEqual(await scoped.names('/dav/'), [withId('notes', second)])
    assert.equal((await dav.put(url('Notes', 'a.txt'), 'x')).status, 201)
    assert.deepEqual(await files(user, first), ['a.txt'])
  })

  it('are found with the same number of statements in one and in a hundred libraries', async () => {
    const friend = await server.signUp()
    const { user, dav } = await signUp()
    const { core, db, accounts } = server.running.services
    const account = await accounts.get(user.email)
    const statements: string[] = []
    const noted = noting(db, statements)
    const names = new LibraryNames({
      access: new Access({ core, db: noted }),
      db: noted,
      now: core.now,
      isReserved: looksLikeSnapshot,
    })
    const cost = async (name: string) => {
      statements.length = 0
      const found = await names.open(account, name)
      assert.equal(found === undefined, name === 'None', name)
      return statements.length
    }
    await user.createLibrary('Mine')
    await shareWith(friend, await friend.createLibrary('Theirs'), user)
    await dav.names('/dav/')
    assert.deepEqual([await cost('Mine'), await cost('Theirs')], [2, 3])
    for (let n = 0; n < 50; n++) {
      await user.createLibrary(`Mine ${n}`)
      await shareWith(friend, await friend.createLibrary(`Theirs ${n}`), user)
    }
    assert.ok((await cost('Theirs 30')) > 3, 'a new name is looked up among all libraries')
    assert.deepEqual([await cost('Mine'), await cost('Theirs'), await cost('Theirs 31')], [2, 3, 3])
    // Names that do not exist are looked up among all libraries ten times a minute.
    const costs: number[] = []
    for (let n = 0; n < 15; n++) costs.push(await cost('None'))
    assert.deepEqual([costs.filter((one) => one > 1).length, costs.at(-1)], [10, 1])
    assert.ok(statements.every((sql) => !/\bshare\b/.test(sql)))
    // A listing finds a new library all the same.
    await user.createLibrary('Late')
    assert.ok((await names.list(account)).some(({ name }) => name === 'Late'))
    assert.equal(await cost('Late'), 2)
  })

  it('are assigned once by two nodes at the same time', async () => {
    const friend = await server.signUp()
    const [older, newer] = [await friend.createLibrary('Race'), await friend.createLibrary('Race')]
    const { user } = await signUp()
    const { core, db, accounts } = server.running.services
    const account = await accounts.get(user.email)
    const node = (itsDb: Database) =>
      new LibraryNames({
        access: new Access({ core, db: itsDb }),
        db: itsDb,
        now: core.now,
        isReserved: looksLikeSnapshot,
      })
    await shareWith(friend, newer, user)
    const other = node(db)
    let isFirst = true
    // The first node has read the libraries and is about to write, when the other sees one more and assigns.
    const late = new Proxy(db, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]): Promise<unknown> => {
          if (name === 'write' && isFirst) {
            isFirst = false
            await shareWith(friend, older, user)
            await other.list(account)
          }
          return Reflect.apply(value, target, args)
        }
      },
    })
    const shown = await node(late).list(account)
    assert.deepEqual(
      shown.map(({ name, libraryId }) => [name, libraryId]),
      [[withId('Race', newer), newer]],
    )
    assert.equal((await other.open(account, 'Race'))?.info.id, older)
    assert.equal((await other.open(account, withId('Race', newer)))?.info.id, newer)
  })

  it('end with the account', async () => {
    const { user, dav } = await signUp()
    await user.createLibrary('Gone')
    await dav.names('/dav/')
    const { db, accounts } = server.running.services
    const { key } = await accounts.get(user.email)
    const rows = async () => (await db.all('select name from webdav_name where account_key = ?', key)).length
    assert.equal(await rows(), 1)
    const admin = await server.admin()
    assert.equal((await admin.delete(`/api/v2.1/admin/users/${user.email}/`)).status, 200)
    assert.equal(await rows(), 0)
  })
})

/** Appends the SQL of every read. */
function noting(db: Database, statements: string[]): Database {
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        if (name === 'all' || name === 'get') statements.push(String(args[0]))
        return Reflect.apply(value, target, args)
      }
    },
  })
}
