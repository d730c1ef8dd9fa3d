import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { answers, makeGroup, refused, shareWithGroup } from './sharing-support.ts'

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

const group = (id: number, rest = '') => `/api/v2.1/groups/${id}/${rest}`
const BAD_NAME =
  'Name can only contain letters, numbers, spaces, hyphen, dot, single quote, brackets or underscore.'

describe('groups', () => {
  it('are created, shown to members, renamed and deleted', async () => {
    const made = await ann.post('/api/v2.1/groups/', { form: { name: "Ann's (1) team-x_y. [z]" } })
    assert.equal(made.status, 201, made.text)
    const { id, created_at, ...rest } = made.body
    assert.deepEqual(rest, {
      parent_group_id: 0,
      name: "Ann's (1) team-x_y. [z]",
      owner: ann.email,
      admins: [ann.email],
      group_quota_usage: 0,
    })
    assert.match(created_at, /^\d{4}-.*\+00:00$/)
    answers(await ann.get(group(id)), 200, made.body)
    refused(await bob.get(group(id)), 403, 'Permission denied.')
    refused(await bob.get(group(999_999)), 404, 'Group 999999 not found.')
    for (const wrong of ['x', '-1', '1e3', '%00']) {
      assert.equal((await ann.get(`/api/v2.1/groups/${wrong}/`)).status, 404)
    }
    const renamed = await ann.put(group(id), { form: { name: 'Équipe 東京' } })
    assert.deepEqual([renamed.status, renamed.body.name], [200, 'Équipe 東京'])
    for (const name of ['', ' ', 'a/b', '<x>', 'a\0', '😀', 'x'.repeat(256)]) {
      refused(
        await ann.post('/api/v2.1/groups/', { json: { name } }),
        400,
        name.includes('\0') ? 'name invalid.' : BAD_NAME,
      )
    }
    const taken = 'There is already a group with that name.'
    refused(await bob.post('/api/v2.1/groups/', { form: { name: 'équipe 東京' } }), 400, taken)
    const other = await makeGroup('Other name', ann)
    refused(await ann.put(group(other), { form: { name: 'Équipe 東京' } }), 400, taken)
    refused(await bob.delete(group(id)), 403, 'Permission denied.')
    answers(await ann.delete(group(id)), 200, { success: true })
    refused(await ann.get(group(id)), 404, `Group ${id} not found.`)
    const guest = await server.signUp({ role: 'guest' })
    refused(await guest.post('/api/v2.1/groups/', { form: { name: 'Guests' } }), 403, 'Permission denied.')
  })

  it('have members with roles', async () => {
    const id = await makeGroup('Roles', ann)
    const added = await ann.post(group(id, 'members/'), { form: { email: 'BOB@example.org' } })
    answers(added, 201, {
      group_id: id,
      name: 'bob',
      email: bob.email,
      contact_email: bob.email,
      login_id: '',
      avatar_url: `${server.url}/media/avatars/default.png`,
      is_admin: false,
      role: 'Member',
    })
    refused(
      await ann.post(group(id, 'members/'), { form: { email: bob.email } }),
      400,
      'User bob is already a group member.',
    )
    refused(
      await ann.post(group(id, 'members/'), { form: { email: 'no@example.org' } }),
      404,
      'User no@example.org not found.',
    )
    refused(await bob.post(group(id, 'members/'), { form: { email: eve.email } }), 403, 'Permission denied.')
    refused(await eve.get(group(id, 'members/')), 403, 'Permission denied.')
    refused(
      await bob.put(group(id, `members/${bob.email}/`), { form: { is_admin: 'true' } }),
      403,
      'Permission denied.',
    )
    refused(
      await ann.put(group(id, `members/${bob.email}/`), { form: { is_admin: 'x' } }),
      400,
      'is_admin invalid.',
    )
    refused(
      await ann.put(group(id, `members/${eve.email}/`), { form: { is_admin: 'true' } }),
      400,
      `Email ${eve.email} invalid.`,
    )
    const raised = await ann.put(group(id, `members/${bob.email}/`), { form: { is_admin: 'true' } })
    assert.deepEqual([raised.body.is_admin, raised.body.role], [true, 'Admin'])
    const bulk = await bob.post(group(id, 'members/bulk/'), {
      form: { emails: `${eve.email},no@example.org,${ann.email}` },
    })
    assert.deepEqual(
      [bulk.body.success.map((one: { email: string }) => one.email), bulk.body.failed],
      [
        [eve.email],
        [
          {
            email: 'no@example.org',
            email_name: 'no@example.org',
            error_msg: 'User no@example.org not found.',
          },
          { email: ann.email, email_name: 'ann', error_msg: 'User ann is already a group member.' },
        ],
      ],
    )
    const roles = (await eve.get(group(id, 'members/'))).body.map((one: { email: string; role: string }) => [
      one.email,
      one.role,
    ])
    assert.deepEqual(roles.toSorted(), [
      [ann.email, 'Owner'],
      [bob.email, 'Admin'],
      [eve.email, 'Member'],
    ])
    assert.equal((await eve.get(group(id, 'members/'), { is_admin: 'true' })).body.length, 2)
    assert.equal((await eve.get(group(id, 'members/'), { page: 2, per_page: 2 })).body.length, 1)
    const found = (await eve.get(group(id, 'search-member/'), { q: 'BOB' })).body
    assert.deepEqual(
      found.map((one: { email: string }) => one.email),
      [bob.email],
    )
    assert.equal((await eve.get(group(id, `members/${bob.email}/`))).body.role, 'Admin')
    refused(await eve.delete(group(id, `members/${bob.email}/`)), 403, 'Permission denied.')
    refused(await bob.delete(group(id, `members/${ann.email}/`)), 403, 'Permission denied.')
    refused(await ann.delete(group(id, `members/${ann.email}/`)), 403, 'Permission denied.')
    answers(await bob.delete(group(id, `members/${eve.email}/`)), 200, { success: true })
    answers(await bob.delete(group(id, `members/${bob.email}/`)), 200, { success: true })
    refused(await ann.delete(group(id, `members/${bob.email}/`)), 400, `Email ${bob.email} invalid.`)
    refused(await bob.get(group(id)), 403, 'Permission denied.')
  })

  it('are transferred', async () => {
    const id = await makeGroup('Handed over', ann, bob)
    refused(await bob.put(group(id), { form: { owner: bob.email } }), 403, 'Permission denied.')
    refused(await ann.put(group(id), { form: { owner: 'x' } }), 400, 'Email x invalid.')
    refused(
      await ann.put(group(id), { form: { owner: ann.email } }),
      400,
      `User ${ann.email} is already group owner.`,
    )
    const handed = await ann.put(group(id), { form: { owner: eve.email } })
    assert.deepEqual([handed.body.owner, handed.body.admins], [eve.email, [eve.email]])
    assert.equal((await ann.get(group(id, `members/${ann.email}/`))).body.role, 'Member')
    refused(await ann.delete(group(id)), 403, 'Permission denied.')
    answers(await eve.delete(group(id)), 200, { success: true })
  })

  it('have libraries that stay owned by their creators', async () => {
    const id = await makeGroup('Libraries', ann, bob, eve)
    const made = await bob.post(group(id, 'libraries/'), { form: { repo_name: 'Team', permission: 'rw' } })
    assert.equal(made.status, 200, made.text)
    assert.deepEqual(
      [made.body.owner_email, made.body.permission, made.body.is_admin],
      [bob.email, 'rw', false],
    )
    const repo = made.body.repo_id
    assert.equal((await eve.get(`/api2/repos/${repo}/`)).body.permission, 'rw')
    assert.deepEqual((await eve.get(group(id, 'libraries/'))).body, [made.body])
    refused(
      await bob.post(group(id, 'libraries/'), { form: { repo_name: 'a/b' } }),
      400,
      'repo_name invalid.',
    )
    refused(
      await bob.post(group(id, 'libraries/'), { form: { repo_name: 'x', permission: 'x' } }),
      400,
      'permission invalid.',
    )
    const stranger = await server.signUp()
    refused(
      await stranger.post(group(id, 'libraries/'), { form: { repo_name: 'x' } }),
      403,
      'Permission denied.',
    )
    refused(await stranger.get(group(id, 'libraries/')), 403, 'Permission denied.')
    const [listed] = (await eve.get('/api/v2.1/groups/', { with_repos: 1 })).body.filter(
      (one: { id: number }) => one.id === id,
    )
    assert.deepEqual(Object.keys(listed.repos[0]).toSorted(), [
      'archive_status',
      'encrypted',
      'id',
      'is_admin',
      'last_modified',
      'monitored',
      'mtime',
      'mtime_relative',
      'name',
      'owner',
      'owner_contact_email',
      'owner_email',
      'owner_name',
      'permission',
      'repo_id',
      'repo_name',
      'size',
      'size_formatted',
      'starred',
      'status',
    ])
    refused(await eve.get('/api/v2.1/groups/', { with_repos: 'x' }), 400, 'with_repos invalid.')
    refused(await eve.delete(group(id, `libraries/${repo}/`)), 403, 'Permission denied.')
    answers(await ann.delete(group(id, `libraries/${repo}/`)), 200, { success: true })
    refused(await bob.delete(group(id, `libraries/${repo}/`)), 404, `Group library ${repo} not found.`)
    assert.equal((await eve.get(`/api2/repos/${repo}/`)).status, 403)
    assert.equal((await bob.get(`/api2/repos/${repo}/`)).status, 200)
  })

  it('lose the shares of a member who leaves, and all shares when they are deleted', async () => {
    const id = await makeGroup('Leaving', ann, bob, eve)
    const [one, two] = [await ann.createLibrary('Anns'), await bob.createLibrary('Bobs')]
    await shareWithGroup(ann, one, id)
    await shareWithGroup(bob, two, id)
    const other = await eve.createLibrary('Eves')
    const foreign = await makeGroup('Not theirs', ann)
    const refusal = await eve.put(`/api2/repos/${other}/dir/shared_items/`, {
      form: { share_type: 'group', group_id: [foreign, 'x', 999_999] },
    })
    assert.deepEqual(refusal.body.failed, [
      { group_name: 'Not theirs', error_msg: 'Permission denied.' },
      { group_name: 'x', error_msg: 'group_id x invalid.' },
      { group_name: '999999', error_msg: 'Group 999999 not found' },
    ])
    answers(await bob.delete(group(id, `members/${bob.email}/`)), 200, { success: true })
    assert.deepEqual(
      (await eve.get('/api2/repos/', { type: 'group' })).body.map((entry: { id: string }) => entry.id),
      [one],
    )
    answers(await ann.delete(group(id)), 200, { success: true })
    assert.deepEqual((await eve.get('/api2/repos/', { type: 'group' })).body, [])
    assert.deepEqual((await ann.get(`/api2/repos/${one}/dir/shared_items/`)).body, [])
    assert.equal((await ann.get(`/api2/repos/${one}/`)).status, 200)
  })

  it('pass to the next member when their owner is removed', async () => {
    const admin = await server.admin()
    const owner = await server.signUp({ email: 'leaving@example.org' })
    const id = await makeGroup('Inherited', owner, bob, eve)
    await owner.put(group(id, `members/${eve.email}/`), { form: { is_admin: 'true' } })
    const alone = await makeGroup('Alone', owner)
    assert.equal((await admin.delete('/api/v2.1/admin/users/leaving@example.org/')).status, 200)
    assert.deepEqual(
      [(await bob.get(group(id))).body.owner, (await bob.get(group(id))).body.admins],
      [eve.email, [eve.email]],
    )
    refused(await bob.get(group(alone)), 404, `Group ${alone} not found.`)
  })

  it('are found by their members', async () => {
    const id = await makeGroup('Needle in a haystack', ann, bob)
    const brief = (await bob.get('/api/v2.1/search-group/', { q: 'NEEDLE' })).body
    assert.deepEqual(
      brief.map(({ created_at, ...rest }: { created_at: string }) => [typeof created_at, rest]),
      [['string', { id, parent_group_id: 0, name: 'Needle in a haystack', owner: ann.email }]],
    )
    assert.deepEqual((await eve.get('/api/v2.1/search-group/', { q: 'needle' })).body, [])
    const shareable = (await bob.get('/api/v2.1/shareable-groups/')).body
    assert.ok(shareable.some((one: { id: number }) => one.id === id))
  })
})

describe('groups, for older clients', () => {
  it('are listed, created and filled', async () => {
    const made = await ann.put('/api2/groups/', { form: { group_name: 'Older' } })
    assert.deepEqual([made.status, made.body.success], [200, true])
    const id = made.body.group_id
    answers(await ann.put('/api2/groups/', { form: { group_name: 'Older' } }), 400, {
      error: 'There is already a group with that name.',
    })
    answers(await ann.put('/api2/groups/', { form: { group_name: '/' } }), 400, { error: BAD_NAME })
    const guest = await server.signUp({ role: 'guest' })
    assert.equal((await guest.put('/api2/groups/', { form: { group_name: 'Guests' } })).status, 403)
    const { groups, replynum } = (await ann.get('/api2/groups/')).body
    const shown = groups.find((one: { id: number }) => one.id === id)
    assert.deepEqual([shown.name, shown.creator, shown.msgnum, replynum], ['Older', ann.email, 0, 0])
    assert.ok(shown.ctime > 1e15)
    const plain = (await ann.get('/api2/groups/', { with_msg: 'false', limit: 1 })).body
    assert.deepEqual([plain.length, typeof plain[0].avatar], [1, 'string'])

    const members = `/api2/groups/${id}/members/`
    answers(await ann.put(members, { form: { user_name: bob.email } }), 200, { success: true })
    refused(await ann.put(members, { form: { user_name: 'x' } }), 400, 'Not a valid user')
    refused(await bob.put(members, { form: { user_name: eve.email } }), 403, 'Permission denied.')
    refused(
      await ann.put('/api2/groups/999999/members/', { form: { user_name: bob.email } }),
      404,
      'Group not found',
    )

    const repos = `/api2/groups/${id}/repos/`
    const created = await bob.post(repos, {
      form: { name: 'Older library', desc: 'words', permission: 'rw' },
    })
    assert.equal(created.status, 200, created.text)
    assert.deepEqual(
      [created.body.name, created.body.desc, created.body.share_from_me],
      ['Older library', 'words', true],
    )
    const [item] = (await ann.get(repos)).body
    assert.deepEqual(
      [item.id, item.owner, item.share_from_me, item.permission],
      [created.body.id, bob.email, false, 'rw'],
    )
    assert.equal((await bob.post(repos, { form: { name: 'x', permission: 'admin' } })).status, 400)
    refused(await eve.get(repos), 403, 'Permission denied.')
    refused(await eve.delete(`${repos}${created.body.id}/`), 403, 'Permission denied.')
    answers(await bob.delete(`${repos}${created.body.id}/`), 200, 'success')
    answers(await ann.get(repos), 200, [])
    answers(await ann.delete(members, { form: { user_name: bob.email } }), 200, { success: true })
    refused(await bob.get(repos), 403, 'Permission denied.')
  })

  it('are renamed and deleted', async () => {
    const id = await makeGroup('Short-lived', ann, bob)
    const path = `/api2/groups/${id}/`
    const rename = (newname: string, operation = 'rename') => ({ form: { operation, newname } })
    const mayNot = (action: string) => `You do not have permission to ${action} group.`
    for (const other of [bob, eve]) {
      refused(await other.post(path, rename('Theirs')), 403, mayNot('rename'))
      refused(await other.delete(path), 403, mayNot('delete'))
    }
    answers(await ann.post(path, rename('Longer-lived')), 200, { success: true })
    assert.equal((await ann.get(`/api/v2.1/groups/${id}/`)).body.name, 'Longer-lived')
    refused(await ann.post(path, rename('')), 400, 'New name is missing')
    refused(await ann.post(path, rename('/')), 400, BAD_NAME)
    refused(await ann.post(path, rename('x', 'dance')), 400, 'Operation can only be rename.')
    const library = await ann.createLibrary('Stays')
    await shareWithGroup(ann, library, id)
    answers(await ann.delete(path), 200, { success: true })
    refused(await ann.delete(path), 404, 'Group not found')
    refused(await ann.post(path, rename('Gone')), 404, 'Group not found')
    assert.equal((await bob.get(`/api2/repos/${library}/`)).status, 403)
    assert.equal((await ann.get(`/api2/repos/${library}/`)).status, 200)
  })
})
