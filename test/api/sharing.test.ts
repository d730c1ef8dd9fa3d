import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'
import {
  answers,
  makeFolder,
  makeGroup,
  refused,
  shareWith,
  shareWithGroup,
  unshare,
} from './sharing-support.ts'

let server: TestServer
let ann: Client
let bob: Client
let eve: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp({ email: 'ann@example.org' })
  bob = await server.signUp({ email: 'bob@example.org' })
  eve = await server.signUp({ email: 'eve@example.org' })
})
after(() => server[Symbol.asyncDispose]())

const items = (id: string) => `/api2/repos/${id}/dir/shared_items/`
const permissionOf = async (who: Client, id: string) =>
  (await who.get(`/api2/repos/${id}/`)).body.permission as string | undefined

describe('sharing with users', () => {
  it('is listed, changed and revoked', async () => {
    const id = await ann.createLibrary('Plans')
    const put = await ann.put(items(id), {
      form: { share_type: 'user', username: [bob.email, 'nobody@example.org', 'x'], permission: 'r' },
    })
    const item = {
      share_type: 'user',
      user_info: {
        name: bob.email,
        nickname: 'bob',
        contact_email: bob.email,
        avatar_url: `${server.url}/media/avatars/default.png`,
      },
      permission: 'r',
      is_admin: false,
    }
    answers(put, 200, {
      success: [item],
      failed: [
        { email: 'nobody@example.org', error_msg: 'User nobody@example.org not found.' },
        { email: 'x', error_msg: 'username invalid.' },
      ],
      virtual_repo_id: null,
    })
    answers(await ann.get(items(id)), 200, [item])
    answers(await bob.get(items(id), { share_type: 'user' }), 200, [item])
    answers(await ann.get(items(id), { share_type: 'group' }), 200, [])
    answers(await eve.get(items(id)), 403, { detail: 'You do not have permission to perform this action.' })
    assert.equal(await permissionOf(bob, id), 'r')
    const twice = await ann.put(items(id), { form: { share_type: 'user', username: bob.email } })
    assert.deepEqual(twice.body.failed, [
      { email: bob.email, error_msg: 'This item has been shared to bob.' },
    ])
    const one = { p: '/', share_type: 'user', username: bob.email }
    answers(await ann.post(items(id), { query: one, form: { permission: 'admin' } }), 200, { success: true })
    const [admin] = (await ann.get(items(id))).body
    assert.deepEqual([admin.permission, admin.is_admin], ['rw', true])
    answers(await ann.delete(items(id), { query: one }), 200, { success: true })
    answers(await ann.delete(items(id), { query: one }), 200, { success: true })
    answers(await ann.post(items(id), { query: one, form: { permission: 'r' } }), 404, {
      error_msg: 'Share not found.',
    })
    assert.equal(await permissionOf(bob, id), undefined)
  })

  it('rejects invalid requests', async () => {
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/file.txt', 'x')
    const form = { share_type: 'user', username: bob.email, permission: 'rw' }
    const put = (query: Record<string, string>, sent: Record<string, string>) =>
      ann.put(items(id), { query, form: sent })
    refused(await put({}, { ...form, share_type: 'x' }), 400, 'share_type invalid.')
    for (const permission of ['x', 'preview', 'cloud-edit', 'invisible', 'custom-1', 'owner']) {
      refused(await put({}, { ...form, permission }), 400, 'permission invalid.')
    }
    refused(await put({}, { ...form, username: ann.email }), 400, 'Library can not be shared to owner')
    refused(await put({ p: '/none' }, form), 404, 'Folder /none/ not found.')
    refused(await put({ p: '/file.txt' }, form), 404, 'Folder /file.txt/ not found.')
    const none = '00000000-0000-4000-8000-000000000000'
    refused(await ann.put(items(none), { form }), 404, `Library ${none} not found.`)
    const one = { p: '/', share_type: 'user' }
    refused(await ann.delete(items(id), { query: { ...one, username: 'x' } }), 400, 'Email x invalid.')
    refused(
      await ann.post(items(id), { query: { ...one, username: 'no@example.org' }, form: { permission: 'r' } }),
      400,
      'Invalid user, should be registered',
    )
    const group = { p: '/', share_type: 'group' }
    refused(await ann.delete(items(id), { query: { ...group, group_id: 'x' } }), 400, 'group_id x invalid.')
    // Nothing is shared with those that do not exist.
    for (const query of [
      { ...one, username: 'no@example.org' },
      { ...group, group_id: 999 },
    ]) {
      answers(await ann.delete(items(id), { query }), 200, { success: true })
    }
    refused(
      await ann.post(items(id), { query: { ...group, group_id: 999 }, form: { permission: 'r' } }),
      404,
      'Group 999 not found.',
    )
    assert.deepEqual((await ann.get(items(id))).body, [])
  })

  it('rejects guests, and folders of encrypted libraries', async () => {
    const guest = await server.signUp({ role: 'guest' })
    const owned = await ann.createLibrary('Theirs')
    assert.equal((await ann.put(`/api2/repos/${owned}/owner/`, { form: { owner: guest.email } })).status, 403)
    await shareWith(ann, owned, guest, { permission: 'admin' })
    const put = await guest.put(items(owned), { form: { share_type: 'user', username: bob.email } })
    refused(put, 403, 'Permission denied.')
    const made = await ann.post('/api2/repos/?from=web', { form: { name: 'Secret', passwd: 'secret' } })
    await makeFolder(ann, made.body.repo_id, '/a')
    const form = { share_type: 'user', username: bob.email }
    refused(await ann.put(items(made.body.repo_id), { query: { p: '/a' }, form }), 400, 'Folder invalid.')
    await shareWith(ann, made.body.repo_id, bob)
    assert.equal(await permissionOf(bob, made.body.repo_id), 'rw')
  })

  it('lets library administrators share it, and nobody grant more than they have', async () => {
    const id = await ann.createLibrary('Plans')
    await shareWith(ann, id, bob, { permission: 'admin' })
    await shareWith(bob, id, eve, { permission: 'rw' })
    assert.equal(await permissionOf(eve, id), 'rw')
    const further = await server.signUp()
    const form = { share_type: 'user', username: further.email }
    refused(await eve.put(items(id), { form }), 403, 'Permission denied.')
    await unshare(ann, id, bob)
    refused(await bob.put(items(id), { form }), 403, 'Permission denied.')
    // The owner sees and can revoke Bob's shares.
    assert.equal((await ann.get(items(id))).body.length, 1)
    await unshare(ann, id, eve)
    assert.equal(await permissionOf(eve, id), undefined)
  })

  it('lets folder administrators share it, and no other folder', async () => {
    const id = await ann.createLibrary('Plans')
    await makeFolder(ann, id, '/a/b')
    await makeFolder(ann, id, '/ab')
    const sub = await shareWith(ann, id, bob, { path: '/a', permission: 'admin' })
    const nested = await shareWith(bob, sub, eve, { path: '/b', permission: 'r' })
    assert.equal((await eve.get(`/api2/repos/${nested}/`)).body.name, 'b')
    const seen = (await ann.get(items(id), { p: '/a/b' })).body
    assert.deepEqual([seen.length, seen[0].user_info.name], [1, eve.email])
    const form = { share_type: 'user', username: eve.email }
    refused(await bob.put(items(id), { form }), 403, 'Permission denied.')
    refused(await bob.put(items(sub), { query: { p: '/../ab' }, form }), 404, 'Folder /../ab/ not found.')
    const own = await bob.put(items(sub), { form })
    assert.deepEqual([own.body.success.length, own.body.virtual_repo_id], [1, sub])
    assert.equal(await permissionOf(eve, sub), 'r')
    refused(
      await bob.put(items(sub), { form: { ...form, username: ann.email } }),
      400,
      'Library can not be shared to owner',
    )
  })
})

describe('the permission of a user', () => {
  it('is the first of: owner, personal, the best of the groups, everyone', async () => {
    const admin = await server.admin()
    const id = await admin.createLibrary('Plans')
    const one = await makeGroup('Readers', admin, bob)
    const two = await makeGroup('Writers 2', admin, bob)
    const publish = await admin.put(`/api2/shared-repos/${id}/`, {
      query: { share_type: 'public', permission: 'r' },
    })
    answers(publish, 200, 'success')
    assert.equal(await permissionOf(bob, id), 'r')
    assert.equal(await permissionOf(admin, id), 'rw')
    await shareWithGroup(admin, id, one, { permission: 'r' })
    assert.equal(await permissionOf(bob, id), 'r')
    await shareWithGroup(admin, id, two, { permission: 'rw' })
    assert.equal(await permissionOf(bob, id), 'rw')
    await shareWith(admin, id, bob, { permission: 'r' })
    assert.equal(await permissionOf(bob, id), 'r')
    await unshare(admin, id, bob)
    assert.equal(await permissionOf(bob, id), 'rw')
    await makeReadOnly(server, id)
    assert.equal(await permissionOf(bob, id), 'r')
    const guest = await server.signUp({ role: 'guest' })
    refused(await guest.get(`/api/v2.1/repos/${id}/`), 403, 'Permission denied.')
    const gone = await admin.delete(`/api2/shared-repos/${id}/`, { query: { share_type: 'public' } })
    answers(gone, 200, 'success')
    const publishing = { form: { share_type: 'public', permission: 'rw' } }
    answers(await admin.put(`/api/v2.1/shared-repos/${id}/`, publishing), 200, { success: true })
    assert.equal((await eve.get(`/api/v2.1/repos/${id}/`)).status, 200)
    const mine = await ann.createLibrary('Not for everyone')
    refused(await ann.put(`/api/v2.1/shared-repos/${mine}/`, publishing), 403, 'Permission denied.')
    const ended = await admin.delete(`/api/v2.1/shared-repos/${id}/`, { query: { share_type: 'public' } })
    answers(ended, 200, { success: true })
    refused(await eve.get(`/api/v2.1/repos/${id}/`), 403, 'Permission denied.')
  })

  it('is that of the nearest shared folder', async () => {
    const id = await ann.createLibrary('Plans')
    await makeFolder(ann, id, '/a/b/c')
    const a = await shareWith(ann, id, bob, { path: '/a', permission: 'rw' })
    const b = await shareWith(ann, id, bob, { path: '/a/b', permission: 'r' })
    const c = (await ann.get(`/api2/repos/${id}/dir/sub_repo/`, { p: '/a/b/c', name: 'c' })).body.sub_repo_id
    assert.deepEqual(
      [await permissionOf(bob, a), await permissionOf(bob, b), await permissionOf(bob, c)],
      ['rw', 'r', 'r'],
    )
    await unshare(ann, id, bob, '/a/b')
    assert.deepEqual([await permissionOf(bob, b), await permissionOf(bob, c)], ['rw', 'rw'])
    await unshare(ann, id, bob, '/a')
    assert.deepEqual([await permissionOf(bob, a), await permissionOf(bob, c)], [undefined, undefined])
  })

  it('lets a group administrator manage what a group administers', async () => {
    const id = await ann.createLibrary('Plans')
    const group = await makeGroup('Managers', ann, bob, eve)
    await ann.put(`/api/v2.1/groups/${group}/members/${bob.email}/`, { form: { is_admin: 'true' } })
    await shareWithGroup(ann, id, group, { permission: 'admin' })
    const further = await server.signUp()
    const form = { share_type: 'user', username: further.email, permission: 'rw' }
    refused(await eve.put(items(id), { form }), 403, 'Permission denied.')
    await shareWith(bob, id, further)
    assert.equal(await permissionOf(further, id), 'rw')
    answers(await bob.delete(`/api/v2.1/repos/${id}/trash/`), 200, { success: true })
    refused(await eve.delete(`/api/v2.1/repos/${id}/trash/`), 403, 'Permission denied.')
  })

  it('can be explained to those who manage the library', async () => {
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/a/b/file.txt', 'x')
    const group = await makeGroup('Explained', ann, bob)
    await shareWithGroup(ann, id, group, { permission: 'r' })
    const sub = await shareWith(ann, id, bob, { path: '/a', permission: 'rw' })
    const ask = (who: Client, query: Record<string, string>, at = id) =>
      who.get(`/api/v2.1/repos/${at}/access-explanation/`, query)
    const deep = (await ask(ann, { email: bob.email, path: '/a/b/file.txt' })).body
    assert.deepEqual(
      [deep.permission, deep.open_as, deep.reason, deep.is_owner],
      ['rw', sub, 'The folder /a is shared with bob@example.org (rw).', false],
    )
    assert.deepEqual(
      deep.grants
        .map((one: { path: string; reaches: boolean; decides: boolean }) => [
          one.path,
          one.reaches,
          one.decides,
        ])
        .toSorted(),
      [
        ['/', true, false],
        ['/a', true, true],
      ],
    )
    const top = (await ask(ann, { email: bob.email })).body
    assert.deepEqual(
      [top.permission, top.reason],
      ['r', 'The library is shared with the group Explained, which bob@example.org is in (r).'],
    )
    assert.equal(
      (await ask(ann, { email: eve.email })).body.reason,
      'Nothing here is shared with eve@example.org.',
    )
    assert.equal((await ask(ann, { email: ann.email })).body.reason, 'ann@example.org owns the library.')
    assert.equal((await ask(ann, { email: bob.email, path: '/b' }, sub)).body.path, '/a/b')
    await uploadFile(ann, id, '/secret/plan.txt', 'x')
    await shareWith(ann, id, eve, { path: '/secret' })
    await shareWith(ann, id, eve, { path: '/a/b', permission: 'r' })
    const manager = await server.signUp()
    await shareWith(ann, id, manager, { path: '/a', permission: 'admin' })
    const inFolder = (await ask(manager, { email: eve.email, path: '/b' }, sub)).body
    assert.deepEqual(
      [inFolder.repo_id, inFolder.repo_name, inFolder.path, inFolder.permission, inFolder.reason],
      [sub, 'a', '/b', 'r', 'The folder /b is shared with eve@example.org (r).'],
    )
    assert.deepEqual(
      inFolder.grants.map((one: { path: string }) => one.path),
      ['/b'],
      'nothing outside of the folder is named',
    )
    const fromAbove = (await ask(manager, { email: bob.email, path: '/b' }, sub)).body
    assert.deepEqual(
      fromAbove.grants.map((one: { path: string }) => one.path),
      ['/', '/'],
    )
    assert.doesNotMatch(JSON.stringify([inFolder, fromAbove]), new RegExp(`secret|Plans|${id}`))
    refused(await ask(bob, { email: bob.email }), 403, 'Permission denied.')
    refused(await ask(ann, { email: 'no@example.org' }), 404, 'User no@example.org not found.')
    refused(await ask(ann, {}), 400, 'email invalid.')
    refused(await ask(ann, { email: bob.email, path: '/..' }), 400, 'path invalid.')
    assert.equal((await ask(await server.admin(), { email: bob.email })).body.permission, 'r')
    assert.equal((await (await server.admin()).get(`/api2/repos/${id}/dir/`)).status, 403)
  })
})

describe('the lists of libraries', () => {
  const common = [
    'encrypted',
    'head_commit_id',
    'id',
    'modifier_contact_email',
    'modifier_email',
    'modifier_name',
    'mtime',
    'mtime_relative',
    'name',
    'owner',
    'permission',
    'root',
    'salt',
    'size',
    'size_formatted',
    'type',
    'version',
  ]

  it('show each kind of access to a library, with its fields', async () => {
    const admin = await server.admin()
    const [owner, member] = [await server.signUp(), await server.signUp()]
    const mine = await member.createLibrary('Mine')
    const shared = await owner.createLibrary('Shared')
    await makeFolder(owner, shared, '/folder')
    await shareWith(owner, shared, member, { permission: 'r' })
    const sub = await shareWith(owner, shared, member, { path: '/folder', permission: 'admin' })
    const group = await makeGroup('Listed', owner, member)
    await shareWithGroup(owner, shared, group, { permission: 'rw' })
    const open = await admin.createLibrary('Open')
    await admin.put(`/api2/shared-repos/${open}/`, { query: { share_type: 'public', permission: 'r' } })

    const { access, accounts } = server.running.services
    const readable = await access.listReadable(await accounts.get(member.email))
    assert.deepEqual(
      new Set(readable.map((one) => [one.via, one.id, one.base, one.permission].join(' '))),
      new Set([
        `mine ${mine} / rw`,
        `shared ${shared} / r`,
        `shared ${sub} /folder rw`,
        `group ${shared} / rw`,
        `public ${open} / r`,
      ]),
    )

    const all = (await member.get('/api2/repos/')).body
    const kinds = all.map((entry: { type: string; id: string }) => [entry.type, entry.id])
    assert.deepEqual(kinds.slice(0, 1), [['repo', mine]])
    assert.deepEqual(new Set(kinds.slice(1, 3).map(String)), new Set([`srepo,${shared}`, `srepo,${sub}`]))
    assert.deepEqual(kinds.slice(3), [
      ['grepo', shared],
      ['grepo', open],
    ])
    const [own, , , team, everyone] = all
    const whole = all.find(
      (entry: { type: string; id: string }) => entry.type === 'srepo' && entry.id === shared,
    )
    const folder = all.find((entry: { id: string }) => entry.id === sub)
    const person = ['owner_contact_email', 'owner_name']
    const from = ['share_from', 'share_from_contact_email', 'share_from_name']
    const fieldsOf = (entry: object) => Object.keys(entry).toSorted()
    assert.deepEqual(fieldsOf(own), [...common, ...person, 'virtual'].toSorted())
    const shownShared = [
      'group_name',
      'is_admin',
      'is_virtual',
      'origin_repo_id',
      'owner_nickname',
      'share_type',
    ]
    assert.deepEqual(fieldsOf(whole), [...common, ...person, ...shownShared].toSorted())
    assert.deepEqual(fieldsOf(team), [...common, ...from, 'group_name', 'groupid'].toSorted())
    assert.deepEqual(fieldsOf(everyone), [...common, ...from, 'share_type'].toSorted())
    assert.deepEqual(
      [whole.owner, whole.permission, whole.share_type, whole.group_name, whole.is_admin, whole.is_virtual],
      [owner.email, 'r', 'personal', '', false, false],
    )
    assert.deepEqual(
      [folder.name, folder.permission, folder.is_admin, folder.is_virtual, folder.origin_repo_id],
      ['folder', 'rw', true, true, shared],
    )
    assert.deepEqual(
      [team.owner, team.group_name, team.groupid, team.share_from, team.permission],
      ['Listed', 'Listed', group, owner.email, 'rw'],
    )
    assert.deepEqual(
      [everyone.owner, everyone.share_type, everyone.share_from],
      ['Organization', 'public', admin.email],
    )
    const ids = async (query: Record<string, string>) =>
      (await member.get('/api2/repos/', query)).body.map((entry: { id: string }) => entry.id)
    assert.deepEqual(await ids({ type: 'mine' }), [mine])
    assert.deepEqual(await ids({ type: 'group' }), [shared])
    assert.deepEqual(await ids({ type: 'org' }), [open])
    assert.deepEqual(await ids({ type: 'group,mine' }), [mine, shared])
    assert.deepEqual(await ids({ type: 'nothing' }), [])
    assert.deepEqual(await ids({ nameContains: 'FOLD' }), [sub])

    const newer = (await member.get('/api/v2.1/repos/')).body.repos
    assert.deepEqual(
      newer.map((entry: { type: string }) => entry.type),
      ['mine', 'shared', 'shared', 'group', 'public'],
    )
    const [, one, , grouped, published] = newer
    assert.ok('is_admin' in one && 'owner_email' in one)
    assert.deepEqual([grouped.group_id, grouped.group_name], [group, 'Listed'])
    assert.ok(!('owner_email' in grouped) && !('monitored' in published))
    const only = (await member.get('/api/v2.1/repos/', { type: ['group', 'public'] })).body.repos
    assert.equal(only.length, 2)
    const guest = await server.signUp({ role: 'guest' })
    assert.deepEqual((await guest.get('/api2/repos/')).body, [])
    const listed = (await member.get('/api2/repos/public/')).body
    assert.deepEqual([listed.length, listed[0].id, listed[0].permission], [1, open, 'r'])
    refused(
      await guest.get('/api2/repos/public/'),
      403,
      'You do not have permission to view public libraries.',
    )
    await admin.delete(`/api2/shared-repos/${open}/`, { query: { share_type: 'public' } })
  })

  it('list outgoing and incoming shares', async () => {
    const [owner, other] = [await server.signUp(), await server.signUp()]
    const id = await owner.createLibrary('Out')
    await makeFolder(owner, id, '/folder')
    const group = await makeGroup('Taking', owner, other)
    await shareWith(owner, id, other, { permission: 'rw' })
    await shareWithGroup(owner, id, group, { permission: 'r' })
    const sub = await shareWith(owner, id, other, { path: '/folder', permission: 'r' })
    const out = (await owner.get('/api/v2.1/shared-repos/')).body
    assert.deepEqual(
      out
        .map((one: { share_type: string; share_permission: string }) => [
          one.share_type,
          one.share_permission,
        ])
        .toSorted(),
      [
        ['group', 'r'],
        ['personal', 'rw'],
      ],
    )
    const folders = (await owner.get('/api/v2.1/shared-folders/')).body
    assert.deepEqual(
      folders.map((one: Record<string, string>) => [one.repo_id, one.path, one.folder_name, one.user_email]),
      [[id, '/folder/', 'folder', other.email]],
    )
    const older = (await owner.get('/api2/shared-repos/')).body
    assert.deepEqual(older.length, 3)
    const given = (await other.get('/api2/beshared-repos/')).body
    assert.deepEqual(
      new Set(
        given.map((one: { repo_id: string; share_type: string; user: string }) =>
          [one.repo_id, one.share_type, one.user].join(' '),
        ),
      ),
      new Set([
        `${id} group ${owner.email}`,
        `${id} personal ${owner.email}`,
        `${sub} personal ${owner.email}`,
      ]),
    )
    const info = (await owner.get(`/api/v2.1/repos/${id}/share-info/`)).body
    assert.deepEqual(info, { shared_user_emails: [other.email], shared_group_ids: [group] })
    const related = (await other.get(`/api/v2.1/repos/${id}/related-users/`)).body.user_list
    assert.deepEqual(
      related.map((one: { email: string }) => one.email).toSorted(),
      [owner.email, other.email].toSorted(),
    )
    answers(await other.get(`/api/v2.1/repos/${id}/custom-share-permissions/`), 200, { permission_list: [] })

    const change = { share_type: 'personal', user: other.email, permission: 'r' }
    answers(await owner.put(`/api/v2.1/shared-repos/${id}/`, { form: change }), 200, { success: true })
    refused(await other.put(`/api/v2.1/shared-repos/${id}/`, { form: change }), 403, 'Permission denied.')
    const path = `/api/v2.1/shared-repos/${id}/`
    refused(await owner.put(path, { form: { ...change, permission: 'x' } }), 400, 'permission invalid.')
    refused(await owner.put(path, { form: { permission: 'r' } }), 400, 'share_type invalid.')
    refused(
      await owner.put(path, { form: { permission: 'r', share_type: 'x' } }),
      400,
      "share_type can only be 'personal' or 'group' or 'public'.",
    )
    refused(
      await owner.put(path, { form: { permission: 'r', share_type: 'personal' } }),
      400,
      'user invalid.',
    )
    refused(
      await owner.put(path, { form: { permission: 'r', share_type: 'group' } }),
      400,
      'group_id invalid.',
    )
    refused(
      await owner.put(path, { form: { permission: 'r', share_type: 'group', group_id: 'x' } }),
      400,
      'group_id must be integer.',
    )
    refused(
      await owner.put(path, { form: { permission: 'r', share_type: 'group', group_id: 9999 } }),
      404,
      'Group 9999 not found.',
    )
    answers(await owner.delete(path, { query: { share_type: 'group', group_id: group } }), 200, {
      success: true,
    })
    const left = await other.delete(`/api2/beshared-repos/${id}/`, {
      query: { share_type: 'personal', from: owner.email },
    })
    answers(left, 200, { success: true })
    refused(
      await other.delete(`/api2/beshared-repos/${id}/`, { query: { share_type: 'personal' } }),
      403,
      'Permission denied',
    )
    answers(await other.delete(`/api2/beshared-repos/${sub}/`, { query: { share_type: 'personal' } }), 200, {
      success: true,
    })
    assert.deepEqual((await other.get('/api2/beshared-repos/')).body, [])
    assert.deepEqual((await owner.get('/api2/shared-repos/')).body, [])
  })

  it('share and unshare by the older calls and in batches', async () => {
    const [owner, other] = [await server.signUp(), await server.signUp()]
    const id = await owner.createLibrary('Batch')
    const path = `/api2/shared-repos/${id}/`
    const put = (query: Record<string, string>) => owner.put(path, { query })
    answers(
      await put({ share_type: 'personal', user: `${other.email},${bob.email}`, permission: 'rw' }),
      200,
      'success',
    )
    assert.deepEqual([await permissionOf(other, id), await permissionOf(bob, id)], ['rw', 'rw'])
    answers(await put({ share_type: 'personal', user: other.email, permission: 'r' }), 200, 'success')
    assert.equal(await permissionOf(other, id), 'r')
    refused(
      await put({ share_type: 'personal', user: `${eve.email},x`, permission: 'r' }),
      400,
      'Some users are not valid, sharing rolled back',
    )
    refused(
      await put({ share_type: 'personal', user: `${eve.email},no@example.org`, permission: 'r' }),
      400,
      'Some users are not existent, sharing rolled back',
    )
    assert.equal(await permissionOf(eve, id), undefined)
    refused(await put({ share_type: 'public', permission: 'r' }), 403, 'Permission denied.')
    refused(await owner.delete(path), 400, 'Share type is required.')
    refused(
      await other.delete(path, { query: { share_type: 'personal', user: bob.email } }),
      403,
      'You do not have permission to unshare library.',
    )
    answers(await owner.delete(path, { query: { share_type: 'personal', user: bob.email } }), 200, 'success')

    const second = await owner.createLibrary('Batch 2')
    const stranger = await ann.createLibrary('Not theirs')
    const form = {
      share_type: 'user',
      username: eve.email,
      permission: 'r',
      repo_id: [id, second, stranger, 'x'],
    }
    const batch = await owner.post('/api/v2.1/repos/batch/', { form: { ...form, operation: 'share' } })
    assert.deepEqual(
      batch.body.success.map((one: { repo_id: string }) => one.repo_id),
      [id, second],
    )
    assert.deepEqual(
      batch.body.failed.map((one: { repo_id: string; error_msg: string }) => [one.repo_id, one.error_msg]),
      [
        [stranger, 'Permission denied.'],
        ['x', 'Library x not found.'],
      ],
    )
    const undone = await owner.post('/api/v2.1/repos/batch/', { form: { ...form, operation: 'unshare' } })
    assert.equal(undone.body.success.length, 2)
    assert.equal(await permissionOf(eve, id), undefined)
    const [mine, foreign] = [await makeGroup('Batch', owner, eve), await makeGroup('Batch of others', ann)]
    const change = (operation: string, recipients: object) =>
      owner.post('/api/v2.1/repos/batch/', {
        json: { operation, repo_id: id, permission: 'r', ...recipients },
      })
    // One that cannot be shared with refuses the request, before anything is shared with the others.
    const groups = (...group_id: unknown[]) => ({ share_type: 'group', group_id })
    const users = (...username: string[]) => ({ share_type: 'user', username })
    refused(await change('share', groups(mine, 999_999)), 404, 'Group 999999 not found.')
    refused(await change('share', groups(mine, foreign)), 403, 'Permission denied.')
    refused(await change('share', groups(mine, 'x')), 400, 'group_id x invalid.')
    refused(await change('share', users(eve.email, 'no@example.org')), 404, 'User no@example.org not found.')
    assert.equal(await permissionOf(eve, id), undefined)
    const done = { repo_id: id, group_id: mine, permission: 'r' }
    answers(await change('share', groups(mine)), 200, { failed: [], success: [done] })
    answers(await change('unshare', groups(mine, 999_999, 'x')), 200, {
      failed: [
        { repo_id: id, group_id: '999999', error_msg: 'Group 999999 not found' },
        { repo_id: id, group_id: 'x', error_msg: 'group_id x invalid.' },
      ],
      success: [done],
    })
    answers(await change('unshare', users('no@example.org')), 200, {
      failed: [{ repo_id: id, username: 'no@example.org', error_msg: 'User no@example.org not found.' }],
      success: [],
    })
    for (const unknown of [
      { share_type: 'personal', user: 'no@example.org' },
      { share_type: 'group', group_id: 999_999 },
    ]) {
      answers(await owner.delete(`/api/v2.1/shared-repos/${id}/`, { query: unknown }), 200, { success: true })
      answers(await owner.delete(path, { query: unknown }), 200, 'success')
    }
    refused(
      await owner.delete(`/api/v2.1/shared-repos/${id}/`, { query: { share_type: 'personal', user: 'x' } }),
      400,
      'user invalid.',
    )
    refused(
      await owner.post('/api/v2.1/repos/batch/', { form: { ...form, operation: 'x' } }),
      400,
      'operation invalid.',
    )
  })
})

describe('a transferred library', () => {
  it('loses its shares, except the one with everyone', async () => {
    const admin = await server.admin()
    const id = await admin.createLibrary('Handed over')
    await makeFolder(admin, id, '/a')
    const group = await makeGroup('Handed', admin, bob)
    await shareWith(admin, id, ann)
    await shareWithGroup(admin, id, group)
    const sub = await shareWith(admin, id, eve, { path: '/a' })
    await admin.put(`/api2/shared-repos/${id}/`, { query: { share_type: 'public', permission: 'r' } })
    const transfer = await admin.put(`/api2/repos/${id}/owner/`, { form: { owner: ann.email } })
    answers(transfer, 200, { success: true })
    assert.deepEqual([await permissionOf(ann, id), await permissionOf(bob, id)], ['rw', 'r'])
    assert.equal((await eve.get(`/api2/repos/${sub}/`)).status, 404)
    assert.deepEqual((await ann.get(items(id))).body, [])
    assert.equal(await permissionOf(admin, id), 'r')
    await ann.delete(`/api2/shared-repos/${id}/`, { query: { share_type: 'public' } })
    assert.equal(await permissionOf(admin, id), undefined)
  })

  it('keeps them on request, and its new owner needs none', async () => {
    const id = await ann.createLibrary('Handed over')
    await makeFolder(ann, id, '/a')
    await shareWith(ann, id, bob, { permission: 'r' })
    await shareWith(ann, id, eve, { permission: 'r' })
    const sub = await shareWith(ann, id, eve, { path: '/a' })
    refused(
      await eve.put(`/api2/repos/${id}/owner/`, { form: { owner: eve.email } }),
      403,
      'Permission denied.',
    )
    const form = { owner: bob.email, reshare: 'true' }
    answers(await ann.put(`/api2/repos/${id}/owner/`, { form }), 200, { success: true })
    assert.deepEqual([await permissionOf(bob, id), await permissionOf(eve, id)], ['rw', 'r'])
    assert.equal(await permissionOf(eve, sub), 'rw')
    assert.equal(await permissionOf(ann, id), undefined)
    const shares = (await bob.get(items(id))).body
    assert.deepEqual(
      shares.map((one: { user_info: { name: string } }) => one.user_info.name),
      [eve.email],
    )
  })

  it('loses them when it is deleted, and does not get them back', async () => {
    const id = await ann.createLibrary('Deleted')
    await makeFolder(ann, id, '/a')
    await shareWith(ann, id, bob)
    const sub = await shareWith(ann, id, bob, { path: '/a' })
    answers(await ann.delete(`/api2/repos/${id}/`), 200, 'success')
    assert.deepEqual(
      [(await bob.get(`/api2/repos/${id}/`)).status, (await bob.get(`/api2/repos/${sub}/`)).status],
      [404, 404],
    )
    answers(await ann.post('/api/v2.1/deleted-repos/', { form: { repo_id: id } }), 200, { success: true })
    assert.deepEqual(await namesIn(ann, id), ['a/'])
    assert.equal((await bob.get(`/api2/repos/${id}/`)).status, 403)
    assert.equal((await bob.get(`/api2/repos/${sub}/`)).status, 404)
  })
})

describe('finding users', () => {
  it('shows guests only the owners of what is shared with them, and the members of their groups', async () => {
    const guest = await server.signUp({ role: 'guest' })
    const [owner, member, stranger] = [await server.signUp(), await server.signUp(), await server.signUp()]
    await shareWith(owner, await owner.createLibrary(), guest)
    const group = await makeGroup(`Of ${guest.email.replace('@', ' at ')}`, member, guest)
    const sent = [owner, member, stranger, guest].map(({ email }) => email)
    const found = async () => {
      const searches = await Promise.all(sent.map((q) => guest.get('/api2/search-user/', { q })))
      return searches.map(({ body }) => body.users.length)
    }
    const listed = async () => {
      const { body } = await guest.post('/api/v2.1/user-list/', { json: { user_id_list: sent } })
      return sent.map((email) => Number(body.user_list.some((one: { email: string }) => one.email === email)))
    }
    assert.deepEqual(
      [await found(), await listed()],
      [
        [1, 1, 0, 1],
        [1, 1, 0, 1],
      ],
    )
    answers(await member.delete(`/api/v2.1/groups/${group}/members/${guest.email}/`), 200, { success: true })
    assert.deepEqual(
      [await found(), await listed()],
      [
        [1, 0, 0, 1],
        [1, 0, 0, 1],
      ],
    )
  })

  it('matches a part of their names and addresses', async () => {
    const found = (await ann.get('/api2/search-user/', { q: 'bob@' })).body.users
    assert.deepEqual(found, [
      {
        email: bob.email,
        name: 'bob',
        contact_email: bob.email,
        avatar_url: `${server.url}/media/avatars/default.png`,
      },
    ])
    assert.deepEqual((await bob.get('/api2/search-user/', { q: 'bob@', include_self: 0 })).body.users, [])
    assert.ok((await ann.get('/api2/search-user/', { q: 'example' })).body.users.length <= 10)
    for (const q of ['', '%00']) refused(await ann.get(`/api2/search-user/?q=${q}`), 400, 'q invalid.')
    assert.deepEqual((await ann.get('/api2/search-user/', { q: '%_!' })).body.users, [])
    const list = await ann.post('/api/v2.1/user-list/', {
      json: { user_id_list: [bob.email, 'no@example.org', 'x'] },
    })
    assert.deepEqual(
      list.body.user_list.map((one: { email: string }) => one.email),
      [bob.email],
    )
    refused(
      await ann.post('/api/v2.1/user-list/', { json: { user_id_list: 5 } }),
      400,
      'user_id_list invalid.',
    )
  })
})
