import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { eventually, postForm, uploadFile } from '../support/transfer.ts'

// It has no types and is no ES module, and its answers have any shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Api = any
// oxlint-disable-next-line typescript/no-explicit-any
type Shown = any
const { SeafileAPI } = createRequire(import.meta.url)('seafile-js')

/** Somebody who uses the package, with a library of their own. */
interface User {
  readonly client: Client
  readonly api: Api
  readonly library: string
}

describe('seafile-js', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  const apiOf = ({ token }: Client): Api => new SeafileAPI().init({ server: server.url, token })

  async function user(name = 'Plans'): Promise<User> {
    const client = await server.signUp()
    const api = apiOf(client)
    const made = await api.createMineRepo({ name, passwd: '' })
    assert.equal(made.data.repo_name, name)
    return { client, api, library: made.data.repo_id }
  }

  /** The status a call is refused with. */
  async function refusedWith(call: Promise<unknown>): Promise<number> {
    try {
      await call
    } catch (error) {
      return (error as { response: { status: number } }).response.status
    }
    return 0
  }

  it('signs in', async () => {
    const api: Api = new SeafileAPI().init({
      server: server.url,
      username: ADMIN.email,
      password: ADMIN.password,
    })
    await api.login()
    assert.equal((await api.authPing()).data, 'pong')
    assert.equal((await api.getAccountInfo()).data.email, ADMIN.email)
    const wrong: Api = new SeafileAPI().init({ server: server.url, username: ADMIN.email, password: 'wrong' })
    assert.equal(await refusedWith(wrong.login()), 400)
  })

  it('creates, lists, renames and deletes libraries', async () => {
    const { api, library, client } = await user()
    const other = (await api.createMineRepo({ name: 'Other', passwd: '' })).data.repo_id
    const listed = (await api.listRepos({ type: ['mine', 'shared'] })).data.repos
    const names = listed.map((repo: Shown) => [repo.type, repo.repo_name, repo.owner_email])
    assert.deepEqual(names.toSorted(), [
      ['mine', 'Other', client.email],
      ['mine', 'Plans', client.email],
    ])
    assert.equal((await api.renameRepo(library, 'Better plans')).data, 'success')
    const info = (await api.getRepoInfo(library)).data
    assert.deepEqual([info.repo_name, info.encrypted, info.permission], ['Better plans', false, 'rw'])
    await api.deleteRepo(other)
    assert.equal((await api.listRepos()).data.repos.length, 1)
    assert.deepEqual(
      (await api.listDeletedRepo()).data.map((repo: Shown) => repo.repo_name),
      ['Other'],
    )
    assert.equal(await refusedWith(api.getRepoInfo(other)), 404)
  })

  it('creates folders and files, renames them, uploads, lists and deletes', async () => {
    const { api, library } = await user()
    assert.equal((await api.createDir(library, '/2025 ä')).status, 201)
    assert.equal((await api.createFile(library, '/2025 ä/a.md', 'false')).data.obj_name, 'a.md')
    await api.renameFile(library, '/2025 ä/a.md', 'b.md')
    const { data: address } = await api.getFileServerUploadLink(library, '/2025 ä')
    const sent = await postForm(address, [['parent_dir', '/2025 ä'], { filename: 'up.txt', bytes: 'hello' }])
    assert.deepEqual([sent.status, sent.body[0].name], [200, 'up.txt'], sent.text)
    const { data } = await api.listDir(library, '/', { recursive: true })
    assert.equal((await api.listDir(library, '/')).data.user_perm, 'rw')
    assert.deepEqual(
      data.dirent_list.map((entry: Shown) => [entry.type, entry.parent_dir, entry.name]).toSorted(),
      [
        ['dir', '/', '2025 ä'],
        ['file', '/2025 ä', 'b.md'],
        ['file', '/2025 ä', 'up.txt'],
      ],
    )
    const download = (await api.getFileDownloadLink(library, '/2025 ä/up.txt')).data
    assert.equal(await (await fetch(download)).text(), 'hello')
    assert.equal((await api.deleteFile(library, '/2025 ä/b.md')).data.success, true)
    assert.equal((await api.deleteDir(library, '/2025 ä')).data.success, true)
    assert.deepEqual((await api.listDir(library, '/')).data.dirent_list, [])
  })

  it('shares with a user, changes that and ends it', async () => {
    const [ann, bob] = [await user(), await user('Of bob')]
    await ann.api.createDir(ann.library, '/docs')
    const shared = await ann.api.shareFolder(ann.library, '/', 'user', 'r', [
      bob.client.email,
      'no@example.org',
    ])
    assert.deepEqual(
      [shared.data.success.length, shared.data.failed[0].email],
      [1, 'no@example.org'],
      JSON.stringify(shared.data),
    )
    const [item] = (await ann.api.listSharedItems(ann.library, '/', 'user')).data
    assert.deepEqual([item.share_type, item.user_info.name, item.permission], ['user', bob.client.email, 'r'])
    const toBob = async () =>
      (await bob.api.listRepos({ type: 'shared' })).data.repos.map((repo: Shown) => [
        repo.repo_name,
        repo.permission,
        repo.owner_email,
      ])
    assert.deepEqual(await toBob(), [['Plans', 'r', ann.client.email]])
    assert.equal(await refusedWith(bob.api.createDir(ann.library, '/mine')), 403)
    await ann.api.updateShareToUserItemPermission(ann.library, '/', 'user', bob.client.email, 'rw')
    assert.deepEqual(await toBob(), [['Plans', 'rw', ann.client.email]])
    assert.equal((await bob.api.createDir(ann.library, '/mine')).status, 201)
    assert.equal((await bob.api.getBeSharedRepos()).data[0].repo_id, ann.library)
    assert.equal((await ann.api.listSharedRepos()).data[0].user_email, bob.client.email)
    await ann.api.deleteShareToUserItem(ann.library, '/', 'user', bob.client.email)
    assert.deepEqual(await toBob(), [])
    assert.equal(await refusedWith(bob.api.listDir(ann.library, '/')), 403)
  })

  it('shares a folder, which its recipient sees as a library', async () => {
    const [ann, bob] = [await user(), await user('Of bob')]
    await ann.api.createDir(ann.library, '/docs')
    await ann.api.createFile(ann.library, '/docs/a.md', 'false')
    const { data } = await ann.api.shareFolder(ann.library, '/docs', 'user', 'rw', [bob.client.email])
    const [repo] = (await bob.api.listRepos({ type: 'shared' })).data.repos
    assert.deepEqual([repo.repo_id, repo.repo_name], [data.virtual_repo_id, 'docs'])
    const inside = (await bob.api.listDir(repo.repo_id, '/')).data.dirent_list
    assert.deepEqual(
      inside.map((entry: Shown) => entry.name),
      ['a.md'],
    )
    const link = (await bob.api.createShareLink(repo.repo_id, '/a.md')).data
    assert.deepEqual([link.repo_id, link.path], [repo.repo_id, '/a.md'])
    const [seen] = (await ann.api.listRepoShareLinks(ann.library)).data
    assert.deepEqual([seen.token, seen.path], [link.token, '/docs/a.md'])
    const [folder] = (await ann.api.listSharedFolders()).data
    assert.deepEqual([folder.path, folder.user_email], ['/docs/', bob.client.email])
  })

  it('creates groups, with members, administrators and libraries', async () => {
    const [ann, bob, cy] = [await user(), await user('Of bob'), await user('Of cy')]
    const name = `Readers ${ann.client.email.split('@')[0]}`
    const { id } = (await ann.api.createGroup(name)).data
    await ann.api.addGroupMember(id, bob.client.email)
    const bulk = (await ann.api.addGroupMembers(id, [cy.client.email, 'no@example.org'])).data
    assert.deepEqual([bulk.success.length, bulk.failed.length], [1, 1])
    const members = async (onlyAdmins = false) =>
      (await ann.api.listGroupMembers(id, 1, 100, onlyAdmins)).data.map((one: Shown) => [one.email, one.role])
    assert.deepEqual(await members(), [
      [ann.client.email, 'Owner'],
      [bob.client.email, 'Member'],
      [cy.client.email, 'Member'],
    ])
    await ann.api.setGroupAdmin(id, bob.client.email, true)
    assert.equal((await members(true)).length, 2)
    const [item] = (await ann.api.shareFolder(ann.library, '/', 'group', 'rw', [id])).data.success
    assert.deepEqual([item.share_type, item.group_info.id], ['group', id])
    const made = (await bob.api.createGroupRepo(id, { repo_name: 'Of the group', permission: 'r' })).data
    const repos = (await cy.api.listGroupRepos(id)).data.map((repo: Shown) => [
      repo.repo_name,
      repo.permission,
    ])
    assert.deepEqual(repos.toSorted(), [
      ['Of the group', 'r'],
      ['Plans', 'rw'],
    ])
    assert.equal((await cy.api.createDir(ann.library, '/by cy')).status, 201)
    assert.equal(await refusedWith(cy.api.createDir(made.repo_id, '/by cy')), 403)
    const [group] = (await cy.api.listGroups(true)).data
    assert.deepEqual([group.name, group.owner, group.repos.length], [name, ann.client.email, 2])
    await cy.api.quitGroup(id, cy.client.email)
    assert.deepEqual((await cy.api.listGroups()).data, [])
    assert.equal(await refusedWith(cy.api.getGroup(id)), 403)
    await ann.api.renameGroup(id, `${name} two`)
    assert.equal((await bob.api.getGroup(id)).data.name, `${name} two`)
    await ann.api.deleteGroup(id)
    assert.equal(await refusedWith(bob.api.getGroup(id)), 404)
  })

  it('creates share links that visitors open, and upload links that they upload to', async () => {
    const { api, client, library } = await user()
    await uploadFile(client, library, '/docs/a.txt', 'hello')
    const until = '2099-01-01T00:00:00+00:00'
    const link = (await api.createShareLink(library, '/docs', 'a long secret', until)).data
    assert.deepEqual(
      [link.is_dir, link.is_expired, link.expire_date, link.path],
      [true, false, until, '/docs/'],
    )
    const visitor = apiOf(await server.signUp())
    assert.equal(await refusedWith(visitor.listSharedDir(link.token, '/', 48)), 403)
    assert.deepEqual((await api.deleteShareLink(link.token)).data, { success: true })
    const open = (await api.createShareLink(library, '/docs')).data
    const [entry] = (await visitor.listSharedDir(open.token, '/', 48)).data.dirent_list
    assert.deepEqual([entry.file_path, entry.size], ['/a.txt', 5])
    const { data } = await api.listShareLinks({ repoID: library, path: '/docs' })
    assert.deepEqual(
      data.map((one: Shown) => one.token),
      [open.token],
    )
    const upload = (await api.createUploadLink(library, '/docs')).data
    assert.equal((await api.getUploadLink(library, '/docs')).data[0].token, upload.token)
    const address = (await visitor.sharedUploadLinkGetFileUploadUrl(upload.token)).data.upload_link
    const sent = await postForm(address, [['parent_dir', '/docs/'], { filename: 'b.txt', bytes: 'in' }])
    assert.equal(sent.status, 200, sent.text)
    assert.deepEqual((await visitor.shareLinksUploadDone(upload.token, '/docs/b.txt', 'false')).data, {
      success: true,
    })
    const told = (await api.listNotifications(1, 25)).data.notification_list
    assert.deepEqual(
      told.map((one: Shown) => [one.type, one.detail.file_path]),
      [['file_uploaded', '/docs/b.txt']],
    )
    assert.deepEqual((await api.deleteUploadLink(upload.token)).data, { success: true })
    assert.equal(await refusedWith(visitor.sharedUploadLinkGetFileUploadUrl(upload.token)), 404)
  })

  it('stars, searches and lists activities', async () => {
    const { api, client, library } = await user()
    await uploadFile(client, library, '/docs/lighthouse.txt', 'a walk along the pier')
    await api.starItem(library, '/docs/lighthouse.txt')
    await api.starItem(library, '/')
    const starred = (await api.listStarredItems()).data.starred_item_list
    assert.deepEqual(
      starred.map((one: Shown) => [one.repo_id, one.path]),
      [
        [library, '/'],
        [library, '/docs/lighthouse.txt'],
      ],
    )
    await api.unstarItem(library, '/')
    assert.equal((await api.listStarredItems()).data.starred_item_list.length, 1)
    await eventually(async () => {
      const { results } = (await api.searchFiles({ q: 'pier' })).data
      assert.deepEqual(
        results.map((one: Shown) => one.fullpath),
        ['/docs/lighthouse.txt'],
      )
    })
    const [found] = (await api.searchFileInRepo(library, 'light')).data.data
    assert.deepEqual([found.path, found.type], ['/docs/lighthouse.txt', 'file'])
    const { events } = (await api.listActivities(1)).data
    const ops = events.map((one: Shown) => [one.op_type, one.obj_type, one.path])
    assert.deepEqual(ops.at(-1), ['create', 'repo', '/'])
    assert.ok(ops.some(([op, , path]: string[]) => op === 'create' && path?.startsWith('/docs')))
  })

  it('lists notifications and marks them as read', async () => {
    const [ann, bob] = [await user(), await user('Of bob')]
    await ann.api.shareFolder(ann.library, '/', 'user', 'rw', [bob.client.email])
    const other = (await ann.api.createMineRepo({ name: 'Other', passwd: '' })).data.repo_id
    await ann.api.shareFolder(other, '/', 'user', 'r', [bob.client.email])
    const list = async () => (await bob.api.listNotifications(1, 25)).data
    const { notification_list, unseen_count } = await list()
    assert.equal(unseen_count, 2)
    assert.deepEqual(
      notification_list.map((one: Shown) => [
        one.type,
        one.detail.repo_name,
        one.detail.share_from_user_email,
      ]),
      [
        ['repo_share', 'Other', ann.client.email],
        ['repo_share', 'Plans', ann.client.email],
      ],
    )
    await bob.api.markNoticeAsRead(notification_list[0].id)
    assert.equal((await list()).unseen_count, 1)
    await bob.api.updateNotifications()
    assert.equal((await bob.api.getUnseenNotificationCount()).data.unseen_count, 0)
    await bob.api.deleteNotifications()
    assert.deepEqual((await list()).notification_list, [])
  })
})
