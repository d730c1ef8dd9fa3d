import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { answers, makeFolder, makeGroup, refused, shareWithGroup } from './sharing-support.ts'

const path = '/api/v2.1/admin/groups/'
const time = 1_754_000_000
const at = '2025-07-31T22:13:20+00:00'
const unknown = '00000000-0000-4000-8000-000000000000'
const ok = { success: true }

describe('groups, for administrators', () => {
  let server: TestServer
  let admin: Client
  let owner: Client
  let member: Client
  let stranger: Client
  before(async () => {
    server = await startServer({ now: () => time })
    admin = await server.admin()
    owner = await server.signUp()
    member = await server.signUp()
    stranger = await server.signUp()
  })
  after(() => server[Symbol.asyncDispose]())

  const nameOf = ({ email }: Client) => email.split('@')[0]
  const shown = (id: number, name: string, by: Client, size = 0) => ({
    id,
    parent_group_id: 0,
    name,
    owner: by.email,
    created_at: at,
    owner_name: nameOf(by),
    size,
    quota: -2,
  })
  /** The audit log entries of a group, oldest first. */
  const audited = async (id: number) => {
    const reply = await admin.get('/api/v2.1/admin/audit-log/', { object: String(id) })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.entries
      .filter((one: { object_id: string; actor: string }) => one.object_id === String(id))
      .filter((one: { actor: string }) => one.actor === admin.email)
      .map((one: { action: string; detail: object }) => [one.action, one.detail])
      .toReversed()
  }
  const roles = async (id: number) => {
    const reply = await admin.get(`${path}${id}/members/`)
    assert.equal(reply.status, 200, reply.text)
    return Object.fromEntries(
      reply.body.members.map((one: { email: string; role: string }) => [one.email, one.role]),
    )
  }

  it('are listed in pages, newest first, and found by a part of their name', async () => {
    const first = await makeGroup('Listed_Äpfel', owner)
    const second = await makeGroup('Listed Birnen', member)
    const library = await owner.createLibrary()
    await uploadFile(owner, library, '/a.txt', 'x'.repeat(3000))
    await shareWithGroup(owner, library, first)
    const page1 = await admin.get(path, { name: 'listed', per_page: 1 })
    answers(page1, 200, {
      groups: [shown(second, 'Listed Birnen', member)],
      page_info: { has_next_page: true, current_page: 1 },
    })
    const page2 = await admin.get(path, { name: 'LISTED', per_page: 1, page: 2 })
    answers(page2, 200, {
      groups: [shown(first, 'Listed_Äpfel', owner, 3000)],
      page_info: { has_next_page: false, current_page: 2 },
    })
    const found = async (name: string) =>
      (await admin.get(path, { name })).body.groups.map((one: { id: number }) => one.id)
    assert.deepEqual(await found('äPFEL'), [first])
    assert.deepEqual(await found('d_'), [first])
    for (const hostile of ['%', '\\', "' or 1=1 --"]) assert.deepEqual(await found(hostile), [])
    const odd = await admin.get(path, { page: 'x', per_page: '-4' })
    assert.deepEqual([odd.status, odd.body.page_info.current_page], [200, 1])
    assert.ok(odd.body.groups.length >= 2)
    answers(await admin.get(`${path}${first}/`), 200, shown(first, 'Listed_Äpfel', owner, 3000))
  })

  it('are created for others, renamed, transferred and deleted', async () => {
    const form = { group_name: 'Made for you', group_owner: owner.email.toUpperCase() }
    const made = await admin.post(path, { form })
    const id: number = made.body.id
    answers(made, 201, shown(id, 'Made for you', owner))
    assert.deepEqual(await roles(id), { [owner.email]: 'Owner' })
    refused(await admin.post(path, { form }), 400, 'There is already a group with that name.')
    refused(
      await admin.post(path, { form: { group_name: 'Other', group_owner: 'nobody@example.org' } }),
      404,
      'User nobody@example.org not found.',
    )
    for (const group_name of ['', '<b>', 'x'.repeat(256)]) {
      assert.equal((await admin.post(path, { form: { group_name } })).status, 400)
    }
    const mine = await admin.post(path, { form: { group_name: 'Mine' } })
    assert.deepEqual([mine.status, mine.body.owner], [201, admin.email])

    const one = `${path}${id}/`
    refused(await admin.put(one), 400, 'new_owner invalid.')
    const failing: [form: Record<string, string>, status: number, message: string][] = [
      [{ new_owner: 'nobody@example.org', new_name: 'Half' }, 404, 'User nobody@example.org not found.'],
      [{ new_owner: owner.email, new_name: 'Half' }, 400, `User ${owner.email} is already group owner.`],
      [{ new_owner: member.email, new_name: 'Mine' }, 400, 'There is already a group with that name.'],
    ]
    for (const [fields, status, message] of failing)
      refused(await admin.put(one, { form: fields }), status, message)
    answers(await admin.get(one), 200, shown(id, 'Made for you', owner))
    const changed = await admin.put(one, { form: { new_owner: member.email, new_name: 'Handed over' } })
    answers(changed, 200, shown(id, 'Handed over', member))
    assert.deepEqual(await roles(id), { [owner.email]: 'Member', [member.email]: 'Owner' })

    answers(await admin.delete(one), 200, ok)
    refused(await admin.get(one), 404, `Group ${id} not found.`)
    refused(await admin.put(one, { form: { new_name: 'Gone' } }), 404, `Group ${id} not found.`)
    answers(await admin.delete(one), 200, ok)
    assert.deepEqual(await audited(id), [
      ['group-made', { name: 'Made for you', owner: owner.email }],
      ['group-changed', { name: 'Made for you', to: 'Handed over' }],
      ['group-changed', { name: 'Handed over', owner: member.email }],
      ['group-deleted', { name: 'Handed over' }],
    ])
  })

  it('have their members managed', async () => {
    const id = await makeGroup('Members', owner)
    const members = `${path}${id}/members/`
    const added = await admin.post(members, {
      form: { email: [member.email, owner.email, 'nobody@example.org', ` ${member.email.toUpperCase()}`] },
    })
    assert.equal(added.status, 200, added.text)
    assert.deepEqual(
      added.body.success.map((one: { email: string }) => one.email),
      [member.email],
    )
    assert.deepEqual(
      added.body.failed.map((one: { error_msg: string }) => one.error_msg),
      [`User ${nameOf(owner)} is already a group member.`, 'User nobody@example.org not found.'],
    )
    for (const json of [{}, { email: [] }, { email: [' '] }, { email: { a: 1 } }]) {
      refused(await admin.post(members, { json }), 400, 'email invalid.')
    }
    const page2 = await admin.get(members, { per_page: 1, page: 2 })
    assert.equal(page2.body.members.length, 1)
    assert.deepEqual(
      [page2.body.group_id, page2.body.group_name, page2.body.page_info],
      [id, 'Members', { has_next_page: false, current_page: 2 }],
    )
    const one = `${members}${member.email}/`
    refused(await admin.put(one, { form: { is_admin: 'maybe' } }), 400, 'is_admin invalid.')
    const raised = await admin.put(one, { form: { is_admin: 'true' } })
    assert.deepEqual([raised.status, raised.body.role], [200, 'Admin'])
    const kept = await admin.put(`${members}${owner.email}/`, { form: { is_admin: 'false' } })
    assert.equal(kept.body.role, 'Owner')
    assert.deepEqual(await roles(id), { [owner.email]: 'Owner', [member.email]: 'Admin' })
    refused(
      await admin.delete(`${members}${owner.email}/`),
      400,
      `${owner.email} is group owner, can not be removed.`,
    )
    for (const email of [stranger.email, 'nobody@example.org']) {
      refused(await admin.delete(`${members}${email}/`), 400, `Email ${email} invalid.`)
    }
    // An administrator of the group; otherwise only its owner could.
    answers(await admin.delete(one), 200, ok)
    assert.deepEqual(await roles(id), { [owner.email]: 'Owner' })
    assert.equal((await member.get(`/api/v2.1/groups/${id}/`)).status, 403)
    const name = 'Members'
    assert.deepEqual(await audited(id), [
      ['group-members-changed', { name, added: member.email }],
      ['group-members-changed', { name, member: member.email, isAdmin: true }],
      // Nothing about the owner, who could not be made a plain member.
      ['group-members-changed', { name, removed: member.email }],
    ])
  })

  it('list and revoke the shares with them', async () => {
    const id = await makeGroup('Libraries', owner, member)
    const library = await owner.createLibrary('Whole')
    const other = await owner.createLibrary('Partly')
    await makeFolder(owner, other, '/part')
    await shareWithGroup(owner, library, id)
    const part = await shareWithGroup(owner, other, id, { path: '/part', permission: 'r' })
    const libraries = `${path}${id}/libraries/`
    const listed = async () =>
      (await admin.get(libraries)).body.libraries.map((one: { repo_id: string }) => one.repo_id).sort()
    assert.deepEqual(await listed(), [library, part].sort())
    const page1 = await admin.get(libraries, { per_page: 1 })
    assert.deepEqual(page1.body.page_info, { has_next_page: true, current_page: 1 })
    assert.equal(page1.body.libraries[0].owner_email, owner.email)
    for (const none of [unknown, other]) {
      refused(await admin.delete(`${libraries}${none}/`), 404, `Group library ${none} not found.`)
    }
    assert.equal((await member.get(`/api2/repos/${library}/`)).status, 200)
    for (const shared of [library, part]) answers(await admin.delete(`${libraries}${shared}/`), 200, ok)
    assert.deepEqual(await listed(), [])
    assert.equal((await member.get(`/api2/repos/${library}/`)).status, 403)
    assert.equal((await owner.get(`/api2/repos/${library}/`)).status, 200)
    const log = await admin.get('/api/v2.1/admin/audit-log/', { actor: admin.email, action: 'share-ended' })
    assert.deepEqual(
      log.body.entries.map((one: { object_id: string; path: string }) => [one.object_id, one.path]),
      [
        [other, '/part'],
        [library, '/'],
      ],
    )
  })

  it('are closed to everyone else', async () => {
    const id = await makeGroup('Private', owner, member)
    const library = await owner.createLibrary()
    await shareWithGroup(owner, library, id)
    const one = `${path}${id}/`
    const calls = [
      ['GET', path, {}],
      ['POST', path, { group_name: 'Sneaked in' }],
      ['GET', one, {}],
      ['PUT', one, { new_owner: stranger.email, new_name: 'Taken' }],
      ['DELETE', one, {}],
      ['GET', `${one}members/`, {}],
      ['POST', `${one}members/`, { email: stranger.email }],
      ['PUT', `${one}members/${member.email}/`, { is_admin: 'true' }],
      ['DELETE', `${one}members/${member.email}/`, {}],
      ['GET', `${one}libraries/`, {}],
      ['DELETE', `${one}libraries/${library}/`, {}],
    ] as const
    for (const [method, url, form] of calls) {
      const options = method === 'GET' ? {} : { form }
      for (const user of [owner, stranger, server.anonymous]) {
        assert.equal((await user.call(method, url, options)).status, 403, `${method} ${url}`)
      }
    }
    assert.deepEqual(await roles(id), { [owner.email]: 'Owner', [member.email]: 'Member' })
    for (const odd of ['x', '-1', '1e3', '99999999999999999999', '%00']) {
      assert.equal((await admin.get(`${path}${odd}/`)).status, 404, odd)
    }
    for (const call of ['members/', 'libraries/']) {
      refused(await admin.get(`${path}999999/${call}`), 404, 'Group 999999 not found.')
    }
  })
})
