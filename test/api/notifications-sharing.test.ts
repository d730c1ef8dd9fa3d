import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { EventStream } from '../support/event-stream.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { postForm, type SentPart } from '../support/transfer.ts'
import { NOON, Workspace } from './folders-support.ts'
import { SHARE, shareLink, UPLOAD, uploadLinkTo, visit } from './links-support.ts'
import { answers, makeFolder, makeGroup, shareWith, shareWithGroup, unshare } from './sharing-support.ts'

const LIST = '/api/v2.1/notifications/'

let server: TestServer
before(async () => {
  server = await startServer({ now: () => NOON })
})
after(() => server[Symbol.asyncDispose]())

type Told = Record<string, unknown> & { type: string }

/** The notifications of an account, oldest first, without names and pictures of people. */
async function told(client: Client): Promise<Told[]> {
  const { status, body, text } = await client.get(LIST)
  assert.equal(status, 200, text)
  const isOfPerson = /^(share_from_user|group_staff)_(name|contact_email|avatar_url)$/
  return body.notification_list.toReversed().map(({ type, detail }: { type: string; detail: object }) => ({
    type,
    ...Object.fromEntries(Object.entries(detail).filter(([name]) => !isOfPerson.test(name))),
  }))
}

async function types(client: Client): Promise<string[]> {
  return (await told(client)).map(({ type }) => type)
}

const people = (count: number) => Promise.all(Array.from({ length: count }, () => server.signUp()))

describe('notifications of shares', () => {
  it('inform the recipient of a share, of its changes and of its end', async () => {
    const [ann, bob] = (await people(2)) as [Client, Client]
    const space = await Workspace.make(server, ann)
    await shareWith(ann, space.id, bob, { permission: 'r' })
    const change = (permission: string) =>
      ann.post(space.v2('dir/shared_items/'), {
        query: { p: '/', share_type: 'user', username: bob.email },
        form: { permission },
      })
    answers(await change('r'), 200, { success: true })
    answers(await change('admin'), 200, { success: true })
    await unshare(ann, space.id, bob)
    await unshare(ann, space.id, bob)
    const common = {
      repo_id: space.id,
      repo_name: 'Plans',
      path: '/',
      share_from_user_email: ann.email,
    }
    assert.deepEqual(await told(bob), [
      { type: 'repo_share', ...common, permission: 'r' },
      { type: 'repo_share_perm_change', ...common, permission: 'admin' },
      { type: 'repo_share_perm_delete', ...common },
    ])
    assert.deepEqual(await told(ann), [])
  })

  it('name a folder by its view, and nothing above it', async () => {
    const [ann, bob] = (await people(2)) as [Client, Client]
    const space = await Workspace.make(server, ann)
    await makeFolder(ann, space.id, '/private/project')
    const id = await shareWith(ann, space.id, bob, { path: '/private/project', permission: 'rw' })
    await unshare(ann, space.id, bob, '/private/project')
    const common = { repo_id: id, repo_name: 'project', path: '/project', share_from_user_email: ann.email }
    assert.deepEqual(await told(bob), [
      { type: 'repo_share', ...common, permission: 'rw' },
      { type: 'repo_share_perm_delete', ...common },
    ])
  })

  it('are not sent for rejected actions, nor to the actor', async () => {
    const [ann, bob] = (await people(2)) as [Client, Client]
    const space = await Workspace.make(server, ann)
    await shareWith(ann, space.id, bob)
    const again = await ann.put(space.v2('dir/shared_items/'), {
      query: { p: '/' },
      form: { share_type: 'user', username: bob.email, permission: 'r' },
    })
    assert.equal(again.body.failed.length, 1)
    const left = await bob.delete(`/api2/beshared-repos/${space.id}/`, { query: { share_type: 'personal' } })
    assert.equal(left.status, 200, left.text)
    assert.deepEqual(await types(bob), ['repo_share'])
    assert.deepEqual(await types(ann), [])
  })

  it('inform the members of a group except the actor', async () => {
    const [ann, bob, cy, dee] = (await people(4)) as [Client, Client, Client, Client]
    const group = await makeGroup(`Told ${ann.email.split('@')[0]}`, ann, bob, cy)
    const space = await Workspace.make(server, bob)
    await shareWithGroup(bob, space.id, group, { permission: 'r' })
    const [joined, shared, ...rest] = await told(cy)
    const name = (await ann.get(`/api/v2.1/groups/${group}/`)).body.name
    const named = { group_id: group, group_name: name }
    assert.deepEqual(joined, { type: 'add_user_to_group', ...named, group_staff_email: ann.email })
    assert.deepEqual(shared, {
      type: 'repo_share_to_group',
      repo_id: space.id,
      repo_name: 'Plans',
      path: '/',
      share_from_user_email: bob.email,
      permission: 'r',
      ...named,
    })
    assert.deepEqual(rest, [])
    assert.deepEqual(await types(ann), ['repo_share_to_group'])
    assert.deepEqual(await types(bob), ['add_user_to_group'])
    const query = { p: '/', share_type: 'group', group_id: group }
    answers(await bob.delete(space.v2('dir/shared_items/'), { query }), 200, { success: true })
    assert.deepEqual((await types(cy)).at(-1), 'repo_share_perm_delete')
    assert.deepEqual(await types(dee), [])
  })

  it('report a membership once, even if the member is added again', async () => {
    const [ann, bob] = (await people(2)) as [Client, Client]
    const group = await makeGroup(`Once ${ann.email.split('@')[0]}`, ann, bob)
    const again = await ann.post(`/api/v2.1/groups/${group}/members/`, { form: { email: bob.email } })
    assert.equal(again.status, 400, again.text)
    assert.deepEqual(await types(bob), ['add_user_to_group'])
  })
})

describe('notifications of uploads through links', () => {
  async function upload(address: string, name: string, more: SentPart[] = []): Promise<void> {
    const { upload_link } = (await visit(server, address)).body
    const reply = await postForm(upload_link, [['parent_dir', '/'], ...more, { filename: name, bytes: name }])
    assert.equal(reply.status, 200, reply.text)
  }

  it('inform the creator of an upload link once', async () => {
    const space = await Workspace.make(server)
    await space.folder('/in')
    const { token } = await uploadLinkTo(space, '/in')
    await upload(`${UPLOAD}${token}/upload/`, 'a.txt')
    const file = {
      type: 'file_uploaded',
      repo_id: space.id,
      repo_name: 'Plans',
      file_path: '/in/a.txt',
      file_name: 'a.txt',
      folder_path: '/in',
      folder_name: 'in',
    }
    assert.deepEqual(await told(space.client), [file])
    const done = (file_path: string, is_dir = 'false') =>
      server.anonymous.post(`${SHARE}${token}/upload/done/`, { form: { file_path, is_dir } })
    answers(await done('/in/a.txt'), 200, { success: true })
    assert.deepEqual(await told(space.client), [file])
    await upload(`${UPLOAD}${token}/upload/`, 'a.txt')
    assert.deepEqual(
      (await told(space.client)).map((one) => one['file_path']),
      ['/in/a.txt', '/in/a (1).txt'],
    )
    for (const path of ['/in/none.txt', '/']) answers(await done(path), 200, { success: true })
    assert.equal((await told(space.client)).length, 2)
  })

  it('report a folder once, however many files it has', async () => {
    const space = await Workspace.make(server)
    await space.folder('/in')
    const { token } = await shareLink(space, '/in', { permissions: { can_upload: true } })
    for (const name of ['a.txt', 'b.txt']) {
      await upload(`${SHARE}${token}/upload/`, name, [['relative_path', 'trip/day']])
    }
    const form = { file_path: '/in/trip', is_dir: 'true' }
    answers(await server.anonymous.post(`${SHARE}${token}/upload/done/`, { form }), 200, { success: true })
    assert.deepEqual(await told(space.client), [
      {
        type: 'folder_uploaded',
        repo_id: space.id,
        repo_name: 'Plans',
        folder_path: '/in/trip',
        folder_name: 'trip',
        parent_dir_path: '/in',
        parent_dir_name: 'in',
      },
    ])
  })

  it('are not sent to the uploader', async () => {
    const space = await Workspace.make(server)
    const address = (await space.client.get(space.v2('upload-link/'))).body
    const reply = await postForm(address, [['parent_dir', '/'], { filename: 'a.txt', bytes: 'hello' }])
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(await told(space.client), [])
  })
})

describe('notifications about libraries that became inaccessible', () => {
  it('are neither listed nor counted if they reveal content', async () => {
    const [ann, bob] = (await people(2)) as [Client, Client]
    const space = await Workspace.make(server, ann)
    await space.folder('/team')
    const folder = await shareWith(ann, space.id, bob, { path: '/team' })
    await bob.post('/api/v2.1/monitored-repos/', { form: { repo_id: folder } })
    await space.file('/team/secret')
    const { token } = await uploadLinkTo(new Workspace(server, bob, folder), '/')
    const { upload_link } = (await visit(server, `${UPLOAD}${token}/upload/`)).body
    const uploaded = await postForm(upload_link, [
      ['parent_dir', '/'],
      { filename: 'secret too', bytes: 'x' },
    ])
    assert.equal(uploaded.status, 200, uploaded.text)
    const listed = async () => {
      const [list, all, unseen] = await Promise.all([
        bob.get(LIST),
        bob.get('/api/v2.1/all-notifications/'),
        bob.get('/api2/unseen_messages/'),
      ])
      assert.deepEqual(all.body.general, list.body)
      const { notification_list: shown, count, unseen_count } = list.body
      assert.deepEqual([count, unseen_count, unseen.body.count], Array(3).fill(shown.length))
      return new Set(shown.map(({ type }: { type: string }) => type))
    }
    assert.deepEqual(await listed(), new Set(['file_uploaded', 'repo_monitor', 'repo_share']))
    assert.match((await bob.get(LIST)).text, /secret/)
    await unshare(ann, space.id, bob, '/team')
    assert.deepEqual(await listed(), new Set(['repo_share_perm_delete', 'repo_share']))
    assert.doesNotMatch((await bob.get(LIST)).text, /secret/)
  })
})

describe('live events about access', () => {
  const settled = () => server.running.services.activity.live.log.settled()

  async function watching(client: Client): Promise<EventStream> {
    await settled()
    const stream = await EventStream.open(client)
    await stream.nextOf('ready')
    return stream
  }

  it('are sent at the start and at the end of a share, at once', async () => {
    const [ann, bob] = (await people(2)) as [Client, Client]
    const space = await Workspace.make(server, ann)
    await using stream = await watching(bob)
    await shareWith(ann, space.id, bob, { permission: 'r' })
    await stream.nextOf('libraries')
    await space.file('/seen')
    assert.equal((await stream.nextOf('commit')).data.repo_id, space.id)
    await unshare(ann, space.id, bob)
    await stream.nextOf('libraries')
    await space.file('/unseen')
    await bob.createLibrary('Own')
    assert.equal((await stream.nextOf('libraries')).event, 'libraries')
    assert.deepEqual(stream.waiting, [])
  })

  const ends: [
    says: string,
    end: (ann: Client, bob: Client, group: number, id: string) => Promise<unknown>,
  ][] = [
    [
      'a member is removed',
      (ann, bob, group) => ann.delete(`/api/v2.1/groups/${group}/members/${bob.email}/`),
    ],
    ['the group is deleted', (ann, _bob, group) => ann.delete(`/api/v2.1/groups/${group}/`)],
    ['the library is deleted', (ann, _bob, _group, id) => ann.delete(`/api/v2.1/repos/${id}/`)],
    [
      'the library is transferred',
      async (ann, _bob, _group, id) => {
        const { email } = await server.signUp()
        return ann.put(`/api2/repos/${id}/owner/`, { form: { owner: email } })
      },
    ],
  ]
  for (const [says, end] of ends) {
    it(`are sent when ${says}`, async () => {
      const [ann, bob] = (await people(2)) as [Client, Client]
      const group = await makeGroup(`Live ${ann.email.split('@')[0]}`, ann, bob)
      const space = await Workspace.make(server, ann)
      await shareWithGroup(ann, space.id, group)
      await using stream = await watching(bob)
      await end(ann, bob, group, space.id)
      await stream.nextOf('libraries')
      assert.equal((await bob.get(space.v2('dir/'))).status === 200, false)
    })
  }
})
