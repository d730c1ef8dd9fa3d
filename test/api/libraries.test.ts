import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { addStar } from '../../src/libraries/attributes/stars.ts'
import type { Client } from '../support/client.ts'
import { contentOf, makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'

const NOBODYS = '00000000-0000-4000-8000-000000000000'
const NO_ROLE = { error_msg: 'You do not have permission to create library.' }

let clock = 1_754_000_000
let server: TestServer
before(async () => {
  server = await startServer({ now: () => clock })
})
after(() => server[Symbol.asyncDispose]())

const headOf = async (client: Client, id: string): Promise<string> =>
  (await client.get(`/api2/repos/${id}/`)).body.head_commit_id

describe('the default library', () => {
  it('does not exist at first, is created once, and is stable afterwards', async () => {
    const ann = await server.signUp()
    const before = await ann.get('/api2/default-repo/')
    assert.deepEqual([before.status, before.body], [200, { exists: false, repo_id: '' }])
    const made = await ann.post('/api2/default-repo/')
    assert.equal(made.status, 200)
    assert.equal(made.body.exists, true)
    assert.match(made.body.repo_id, /^[0-9a-f-]{36}$/)
    assert.deepEqual((await ann.post('/api2/default-repo/')).body, made.body)
    assert.deepEqual((await ann.get('/api2/default-repo')).body, made.body)
    const info = await ann.get(`/api2/repos/${made.body.repo_id}/download-info/`)
    assert.deepEqual([info.body.repo_name, info.body.repo_desc], ['My Library', 'My Library'])
  })

  it('is created once for any number of concurrent calls', async () => {
    const ann = await server.signUp()
    const replies = await Promise.all(Array.from({ length: 12 }, () => ann.post('/api2/default-repo/')))
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
    assert.equal((await ann.get('/api2/repos/')).body.length, 1)
  })

  it('is created again once it was deleted or transferred', async () => {
    const ann = await server.signUp()
    const bob = await server.signUp()
    const first = (await ann.post('/api2/default-repo/')).body.repo_id
    await ann.delete(`/api2/repos/${first}/`)
    assert.deepEqual((await ann.get('/api2/default-repo/')).body, { exists: false, repo_id: '' })
    const second = (await ann.post('/api2/default-repo/')).body.repo_id
    assert.notEqual(second, first)
    await ann.put(`/api2/repos/${second}/owner/`, { form: { owner: bob.email } })
    assert.deepEqual((await ann.get('/api2/default-repo/')).body, { exists: false, repo_id: '' })
    assert.deepEqual((await bob.get('/api2/default-repo/')).body, { exists: false, repo_id: '' })
  })

  it('is not created for a role that may not add libraries', async () => {
    const guest = await server.signUp({ role: 'guest' })
    const reply = await guest.post('/api2/default-repo/')
    assert.deepEqual([reply.status, reply.body], [403, NO_ROLE])
    assert.deepEqual((await guest.get('/api2/default-repo/')).body, { exists: false, repo_id: '' })
  })
})

describe('the list of libraries', () => {
  let ann: Client
  let plans: string
  let photos: string
  before(async () => {
    ann = await server.signUp({ email: 'ann@example.org' })
    await server.running.services.accounts.update(ann.email, { name: 'Ann' }, undefined)
    plans = await ann.createLibrary('Plans')
    clock += 10
    photos = await ann.createLibrary('ÉTÉ photos')
    await contentOf(server, ann, photos).putFile('/a.jpg', 83_260)
    clock += 2 * 86_400
  })

  it('has every field, newest change first, and announces support for encryption', async () => {
    const reply = await ann.get('/api2/repos/')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('enable_encrypted_library'), 'True')
    assert.equal(reply.body.length, 2)
    const [first, second] = reply.body
    assert.deepEqual(first, {
      type: 'repo',
      id: photos,
      name: 'ÉTÉ photos',
      owner: 'ann@example.org',
      owner_name: 'Ann',
      owner_contact_email: 'ann@example.org',
      permission: 'rw',
      mtime: 1_754_000_010,
      mtime_relative:
        '<time datetime="2025-07-31T22:13:30" is="relative-time" title="Thu, 31 Jul 2025 22:13:30 +0000" >2 days ago</time>',
      modifier_email: 'ann@example.org',
      modifier_name: 'Ann',
      modifier_contact_email: 'ann@example.org',
      size: 83_260,
      size_formatted: '81.3\u00a0KB',
      encrypted: false,
      virtual: false,
      root: '',
      head_commit_id: await headOf(ann, photos),
      version: 1,
      salt: '',
    })
    assert.deepEqual([second.id, second.size, second.size_formatted], [plans, 0, '0\u00a0bytes'])
  })

  const listings: [query: string, names: string[]][] = [
    ['', ['ÉTÉ photos', 'Plans']],
    ['type=', ['ÉTÉ photos', 'Plans']],
    ['type=mine', ['ÉTÉ photos', 'Plans']],
    ['type=mine,shared', ['ÉTÉ photos', 'Plans']],
    ['type=nonsense,mine', ['ÉTÉ photos', 'Plans']],
    ['type=shared', []],
    ['type=group', []],
    ['type=org', []],
    ['type=shared,group,org', []],
    ['type=nonsense', []],
    ['nameContains=LAN', ['Plans']],
    ['nameContains=%C3%A9t%C3%A9', ['ÉTÉ photos']],
    ['nameContains=e%CC%81t', ['ÉTÉ photos']],
    ['nameContains=', ['ÉTÉ photos', 'Plans']],
    ['nameContains=x', []],
    ['type=mine&nameContains=plan', ['Plans']],
    ['type=shared&nameContains=plan', []],
    ['nameContains=%00%ff', []],
    ['type=%00&__proto__=1', []],
  ]
  for (const [query, names] of listings) {
    it(`returns ${JSON.stringify(names)} for "${query}"`, async () => {
      const reply = await ann.get(`/api2/repos/?${query}`)
      assert.equal(reply.status, 200)
      assert.deepEqual(
        reply.body.map(({ name }: { name: string }) => name),
        names,
      )
      assert.equal(reply.headers.get('enable_encrypted_library'), 'True')
    })
  }

  it('is returned by /api/v2.1/ with every field', async () => {
    const reply = await ann.get('/api/v2.1/repos/')
    assert.equal(reply.status, 200)
    assert.equal(reply.body.repos.length, 2)
    assert.deepEqual(reply.body.repos[0], {
      type: 'mine',
      repo_id: photos,
      repo_name: 'ÉTÉ photos',
      owner_email: 'ann@example.org',
      owner_name: 'Ann',
      owner_contact_email: 'ann@example.org',
      owner_avatar: `${server.url}/media/avatars/default.png`,
      last_modified: '2025-07-31T22:13:30+00:00',
      modifier_email: 'ann@example.org',
      modifier_name: 'Ann',
      modifier_contact_email: 'ann@example.org',
      size: 83_260,
      encrypted: false,
      permission: 'rw',
      starred: false,
      monitored: false,
      status: 'normal',
      salt: '',
      enable_onlyoffice: false,
    })
  })

  for (const [query, count] of [
    ['type=mine', 2],
    ['type=shared&type=mine', 2],
    ['type=shared', 0],
    ['type=group&type=public', 0],
    ['type=nonsense', 0],
    ['type=%00', 0],
  ] as const) {
    it(`returns ${count} libraries of /api/v2.1/ for ${query}`, async () => {
      const reply = await ann.get(`/api/v2.1/repos/?${query}`)
      assert.equal(reply.status, 200)
      assert.equal(reply.body.repos.length, count)
    })
  }

  it('marks starred and read-only libraries', async () => {
    const bob = await server.signUp()
    const id = await bob.createLibrary()
    const { access, accounts, core } = server.running.services
    const library = await access.open(await accounts.get(bob.email), id as LibraryId)
    await addStar(core, library, ROOT, true)
    await makeReadOnly(server, id)
    const [item] = (await bob.get('/api/v2.1/repos/')).body.repos
    assert.deepEqual([item.starred, item.status, item.permission], [true, 'read-only', 'r'])
    assert.equal((await bob.get('/api2/repos/')).body[0].permission, 'rw')
    assert.equal((await bob.get(`/api2/repos/${id}/`)).body.permission, 'r')
  })
})

describe('one library', () => {
  it('is returned with every field', async () => {
    const ann = await server.signUp()
    const id = await ann.createLibrary('Plans')
    const empty = await ann.get(`/api2/repos/${id}/`)
    assert.equal(empty.status, 200)
    assert.equal(empty.body.root, '0'.repeat(40))
    await contentOf(server, ann, id).putFile('/a.txt', 120)
    const reply = await ann.get(`/api2/repos/${id}/`)
    assert.match(reply.body.root, /^[0-9a-f]{40}$/)
    assert.match(reply.body.head_commit_id, /^[0-9a-f]{40}$/)
    const { root, head_commit_id, ...rest } = reply.body
    assert.notEqual(root, empty.body.root)
    assert.notEqual(head_commit_id, empty.body.head_commit_id)
    const name = ann.email.split('@')[0]
    assert.deepEqual(rest, {
      type: 'repo',
      id,
      owner: 'self',
      name: 'Plans',
      mtime: clock,
      size: 120,
      encrypted: false,
      permission: 'rw',
      modifier_email: ann.email,
      modifier_contact_email: ann.email,
      modifier_name: name,
      file_count: 1,
    })
    const detail = await ann.get(`/api/v2.1/repos/${id}/`)
    assert.equal(detail.status, 200)
    assert.deepEqual(detail.body, {
      repo_id: id,
      repo_name: 'Plans',
      repo_type: null,
      owner_email: ann.email,
      owner_name: name,
      owner_contact_email: ann.email,
      owner_avatar: `${server.url}/media/avatars/default.png`,
      size: 120,
      encrypted: false,
      file_count: 1,
      permission: 'rw',
      no_quota: false,
      is_admin: true,
      is_virtual: false,
      has_been_shared_out: false,
      lib_need_decrypt: false,
      last_modified: new Date(clock * 1000).toISOString().replace('.000Z', '+00:00'),
      status: 'normal',
      enable_onlyoffice: false,
      monitored: false,
    })
  })

  it('reports when the quota of its owner is exhausted', async () => {
    const ann = await server.signUp()
    const id = await ann.createLibrary()
    await contentOf(server, ann, id).putFile('/a.txt', 100)
    for (const [quota, full] of [
      [101, false],
      [100, true],
      [99, true],
    ] as const) {
      await server.running.services.accounts.update(ann.email, { quota }, undefined)
      assert.equal((await ann.get(`/api/v2.1/repos/${id}/`)).body.no_quota, full, String(quota))
    }
  })

  it('is deleted by its owner, and no call finds it afterwards', async () => {
    const ann = await server.signUp()
    for (const prefix of ['/api2', '/api/v2.1']) {
      const id = await ann.createLibrary()
      const reply = await ann.delete(`${prefix}/repos/${id}/`)
      assert.deepEqual([reply.status, reply.text], [200, '"success"'])
      assert.deepEqual((await ann.get(`/api2/repos/${id}/`)).body, { error_msg: 'Library not found.' })
      const gone = await ann.delete(`/api2/repos/${id}/`)
      assert.deepEqual([gone.status, gone.body], [404, { error_msg: `Library ${id} not found.` }])
      const again = await ann.delete(`/api/v2.1/repos/${id}/`)
      assert.deepEqual([again.status, again.body], [200, { success: true }])
    }
    assert.deepEqual((await ann.get('/api2/repos/')).body, [])
  })

  it('is not deleted through /api/v2.1/ while it is read-only', async () => {
    const ann = await server.signUp()
    const id = await ann.createLibrary()
    await makeReadOnly(server, id)
    const reply = await ann.delete(`/api/v2.1/repos/${id}/`)
    assert.deepEqual([reply.status, reply.body], [403, { error_msg: 'Permission denied.' }])
    assert.equal((await ann.get(`/api2/repos/${id}/`)).status, 200)
  })
})

describe('renaming a library', () => {
  let ann: Client
  let id: string
  before(async () => {
    ann = await server.signUp()
    id = await ann.createLibrary('Old')
  })
  const nameAndText = async () => {
    const { body } = await ann.get(`/api2/repos/${id}/download-info/`)
    return [body.repo_name, body.repo_desc]
  }

  for (const encoding of ['form', 'multipart', 'json'] as const) {
    it(`accepts the name and the description as ${encoding}`, async () => {
      const sent = { repo_name: `New by ${encoding}`, repo_desc: 'what it is' }
      const reply = await ann.post(`/api2/repos/${id}/?op=rename`, { [encoding]: sent })
      assert.deepEqual([reply.status, reply.text], [200, '"success"'])
      assert.deepEqual(await nameAndText(), [sent.repo_name, sent.repo_desc])
    })
  }

  it('creates a commit, and keeps the description if none is sent', async () => {
    const before = await headOf(ann, id)
    await ann.post(`/api2/repos/${id}?op=rename`, { form: { repo_name: 'Café' } })
    assert.deepEqual(await nameAndText(), ['Café', 'what it is'])
    assert.notEqual(await headOf(ann, id), before)
    const [entry] = (await ann.get(`/api/v2.1/repos/${id}/history/`)).body.data
    assert.equal(entry.description, 'Changed library name or description')
  })

  it('allows two libraries with the same name', async () => {
    const other = await ann.createLibrary('Twin')
    assert.equal(
      (await ann.post(`/api2/repos/${id}/?op=rename`, { form: { repo_name: 'Twin' } })).status,
      200,
    )
    assert.notEqual(other, id)
  })

  const refused: [sent: Record<string, unknown>, words: string][] = [
    [{}, 'name invalid.'],
    [{ repo_name: '' }, 'name invalid.'],
    [{ repo_name: '.' }, 'name invalid.'],
    [{ repo_name: '..' }, 'name invalid.'],
    [{ repo_name: 'a/b' }, 'name invalid.'],
    [{ repo_name: 'a\\b' }, 'name invalid.'],
    [{ repo_name: 'a\u0000b' }, 'name invalid.'],
    [{ repo_name: 'a\nb' }, 'name invalid.'],
    [{ repo_name: '\ud800' }, 'name invalid.'],
    [{ repo_name: 'x'.repeat(256) }, 'name invalid.'],
    [{ repo_name: 'é'.repeat(128) }, 'name invalid.'],
    [{ repo_name: { a: 1 } }, 'name invalid.'],
    [{ repo_name: null }, 'name invalid.'],
    [{ repo_name: 'fine', repo_desc: 'a\u0000b' }, 'repo_desc invalid.'],
    [{ repo_name: 'fine', repo_desc: '\udfff' }, 'repo_desc invalid.'],
  ]
  for (const [json, words] of refused) {
    it(`rejects ${JSON.stringify(json).slice(0, 60)}`, async () => {
      const before = await headOf(ann, id)
      const reply = await ann.post(`/api2/repos/${id}/?op=rename`, { json })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: words }])
      assert.equal(await headOf(ann, id), before)
    })
  }

  it('checks the library, then the name, then the permission', async () => {
    const bob = await server.signUp()
    const call = (library: string, repo_name: string) =>
      bob.post(`/api2/repos/${library}/?op=rename`, { form: { repo_name } })
    const unknown = await call(NOBODYS, '')
    assert.deepEqual([unknown.status, unknown.body], [404, { error_msg: 'Library not found.' }])
    const unnamed = await call(id, '')
    assert.deepEqual([unnamed.status, unnamed.body], [400, { error_msg: 'name invalid.' }])
    const denied = await call(id, 'Mine')
    const words = { error_msg: 'You do not have permission to rename this library.' }
    assert.deepEqual([denied.status, denied.body], [403, words])
  })

  it('is rejected while it is read-only', async () => {
    const other = await ann.createLibrary('Fixed')
    await makeReadOnly(server, other)
    const reply = await ann.post(`/api2/repos/${other}/?op=rename`, { form: { repo_name: 'Free' } })
    assert.deepEqual([reply.status, reply.body], [403, { error_msg: 'Permission denied.' }])
    assert.equal((await ann.get(`/api2/repos/${other}/`)).body.name, 'Fixed')
  })

  it('is the only supported operation', async () => {
    for (const op of ['', 'delete', '__proto__']) {
      const reply = await ann.post(`/api2/repos/${id}/?op=${op}`)
      assert.deepEqual([reply.status, reply.text], [200, '"unsupported operation"'])
    }
    assert.equal((await ann.post(`/api2/repos/${NOBODYS}/?op=delete`)).status, 404)
  })
})

describe('the owner of a library', () => {
  it('is shown only to the owner', async () => {
    const ann = await server.signUp()
    const bob = await server.signUp()
    const id = await ann.createLibrary()
    const reply = await ann.get(`/api2/repos/${id}/owner/`)
    assert.deepEqual([reply.status, reply.body], [200, { owner: ann.email }])
    const denied = await bob.get(`/api2/repos/${id}/owner/`)
    assert.deepEqual([denied.status, denied.body], [403, { error_msg: 'Permission denied.' }])
  })

  for (const encoding of ['form', 'multipart', 'json'] as const) {
    it(`changes with all content and history (${encoding})`, async () => {
      const ann = await server.signUp()
      const bob = await server.signUp()
      const id = await ann.createLibrary('Plans')
      await contentOf(server, ann, id).addFile('/a.txt')
      const head = await headOf(ann, id)
      const syncToken = (await ann.get(`/api2/repos/${id}/download-info/`)).body.token
      const reply = await ann.put(`/api2/repos/${id}/owner/`, {
        [encoding]: { owner: bob.email.toUpperCase() },
      })
      assert.deepEqual([reply.status, reply.body], [200, { success: true }])
      assert.equal(await headOf(bob, id), head)
      assert.equal((await bob.get(`/api/v2.1/repos/${id}/history/`)).body.data.length, 2)
      assert.equal((await bob.get('/api2/repos/')).body[0].owner, bob.email)
      assert.equal((await ann.get(`/api2/repos/${id}/`)).status, 403)
      assert.deepEqual((await ann.get('/api2/repos/')).body, [])
      assert.equal(await server.running.services.syncTokens.authenticate(syncToken), undefined)
    })
  }

  it('changes once for two concurrent transfers', async () => {
    const ann = await server.signUp()
    const others = [await server.signUp(), await server.signUp()]
    const id = await ann.createLibrary()
    const replies = await Promise.all(
      others.map(({ email }) => ann.put(`/api2/repos/${id}/owner/`, { form: { owner: email } })),
    )
    const won = replies.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
  })

  it('validates in the documented order', async () => {
    const ann = await server.signUp()
    const bob = await server.signUp()
    const guest = await server.signUp({ role: 'guest' })
    const id = await ann.createLibrary()
    const rows: [
      who: Client,
      library: string,
      sent: Record<string, unknown>,
      status: number,
      words: string,
    ][] = [
      [ann, NOBODYS, {}, 400, 'owner invalid.'],
      [ann, id, { owner: '' }, 400, 'owner invalid.'],
      [ann, id, { owner: { a: 1 } }, 400, 'owner invalid.'],
      [ann, id, { owner: 'a\u0000b@example.org' }, 400, 'owner invalid.'],
      [ann, NOBODYS, { owner: 'nobody@example.org' }, 404, `Library ${NOBODYS} not found.`],
      [ann, id, { owner: 'Nobody@example.org' }, 404, 'User nobody@example.org not found.'],
      [ann, id, { owner: 'no address' }, 404, 'User no address not found.'],
      [ann, id, { owner: '7@seafile_group' }, 404, 'User 7@seafile_group not found.'],
      [bob, id, { owner: 'nobody@example.org' }, 404, 'User nobody@example.org not found.'],
      [bob, id, { owner: bob.email }, 403, 'Permission denied.'],
      [
        ann,
        id,
        { owner: guest.email },
        403,
        `Transfer failed: role of ${guest.email} is guest, can not add library.`,
      ],
      [ann, id, { owner: ann.email }, 400, 'Library can not be transferred to owner.'],
    ]
    for (const [who, library, json, status, words] of rows) {
      const reply = await who.put(`/api2/repos/${library}/owner/`, { json })
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: words }], JSON.stringify(json))
    }
    assert.equal((await ann.get(`/api2/repos/${id}/owner/`)).body.owner, ann.email)
  })
})
