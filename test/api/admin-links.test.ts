import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import type { Workspace } from './folders-support.ts'
import { PASSWORD, type Shown, seen, sharedSpace, shareLink, uploadLinkTo } from './links-support.ts'
import { answers, refused } from './sharing-support.ts'

const at = '2025-07-31T22:13:20+00:00'
const DAY = 86_400

describe('links, for administrators', () => {
  let server: TestServer
  let admin: Client
  let space: Workspace
  let time = 1_754_000_000
  before(async () => {
    server = await startServer({ now: () => time })
    admin = await server.admin()
    space = await sharedSpace(server)
  })
  after(() => server[Symbol.asyncDispose]())

  const list = (kind: string) => `/api/v2.1/admin/${kind}-links/`
  const common = (link: Shown) => ({
    token: link.token,
    repo_id: space.id,
    repo_name: link.repo_name,
    creator_email: space.client.email,
    creator_name: space.client.email.split('@')[0],
    ctime: at,
    view_cnt: 0,
    expire_date: '',
    is_expired: false,
  })

  it('are listed newest first without their passwords, shown and deleted', async () => {
    const folder = await shareLink(space, '/docs', { password: PASSWORD, expire_days: 1 })
    const file = await shareLink(space, '/docs/a.txt')
    const fileShown = { ...common(file), path: '/docs/a.txt', obj_name: 'a.txt', is_dir: false }
    const folderShown = {
      ...common(folder),
      path: '/docs/',
      obj_name: 'docs',
      is_dir: true,
      expire_date: '2025-08-01T22:13:20+00:00',
    }
    const all = await admin.get(list('share'))
    answers(all, 200, { share_link_list: [fileShown, folderShown], count: 2 })
    assert.ok(!all.text.includes(PASSWORD))
    const page2 = await admin.get(list('share'), { page: 2, per_page: 1 })
    answers(page2, 200, { share_link_list: [folderShown], count: 2 })
    answers(await admin.get(list('share'), { page: 9 }), 200, { share_link_list: [], count: 2 })
    const odd = await admin.get(list('share'), { page: 'x', per_page: '0' })
    assert.equal(odd.body.share_link_list.length, 2)
    const one = `${list('share')}${folder.token}/`
    const shown = await admin.get(one)
    answers(shown, 200, folderShown)
    time += DAY
    answers(await admin.get(one), 200, { ...folderShown, is_expired: true })
    time -= DAY

    // A link of the other kind is not found here.
    refused(await admin.get(`${list('upload')}${file.token}/`), 404, `token ${file.token} not found.`)
    answers(await admin.delete(`${list('upload')}${file.token}/`), 200, { success: true })
    assert.equal((await admin.get(list('share'))).body.count, 2)

    assert.equal((await server.anonymous.get(`/f/${file.token}/`)).status, 200)
    for (let round = 0; round < 2; round++) {
      answers(await admin.delete(`${list('share')}${file.token}/`), 200, { success: true })
    }
    assert.equal((await server.anonymous.get(`/f/${file.token}/`)).status, 404)
    refused(await admin.get(`${list('share')}${file.token}/`), 404, `token ${file.token} not found.`)
    const log = await admin.get('/api/v2.1/admin/audit-log/', { action: 'link-ended' })
    assert.deepEqual(
      log.body.entries.map((entry: Shown) => [entry.actor, entry.object_kind, entry.object_id, entry.path]),
      [[admin.email, 'link', file.token, '/docs/a.txt']],
    )
    assert.deepEqual(log.body.entries[0].detail, {
      kind: 'share',
      creator: space.client.email,
      library: space.id,
      name: file.repo_name,
    })
  })

  it('list, show and delete upload links in the same way', async () => {
    const link = await uploadLinkTo(space, '/docs', { password: PASSWORD })
    const shown = { ...common(link), path: '/docs/', obj_name: 'docs', is_dir: true }
    answers(await admin.get(list('upload')), 200, { upload_link_list: [shown], count: 1 })
    answers(await admin.get(`${list('upload')}${link.token}/`), 200, shown)
    answers(await admin.delete(`${list('upload')}${link.token}/`), 200, { success: true })
    answers(await admin.get(list('upload')), 200, { upload_link_list: [], count: 0 })
  })

  it('are closed to everyone else, and those of a deleted library to everyone', async () => {
    const other = await sharedSpace(server)
    const before: number = (await admin.get(list('share'))).body.count
    const link = await shareLink(other, '/docs')
    for (const kind of ['share', 'upload']) {
      for (const [method, url] of [
        ['GET', list(kind)],
        ['GET', `${list(kind)}${link.token}/`],
        ['DELETE', `${list(kind)}${link.token}/`],
      ] as const) {
        for (const user of [other.client, space.client, server.anonymous]) {
          assert.equal((await user.call(method, url)).status, 403, `${method} ${url}`)
        }
      }
      for (const token of ['abc', 'f'.repeat(20), 'f'.repeat(500), "'--", 'XYZ', '%00']) {
        assert.equal((await admin.get(`${list(kind)}${token}/`)).status, 404, token)
      }
    }
    assert.ok(Array.isArray(await seen(server, link.token)))
    assert.equal((await admin.get(list('share'))).body.count, before + 1)
    assert.equal((await other.client.delete(`/api2/repos/${other.id}/`)).status, 200)
    const left = await admin.get(list('share'))
    assert.equal(left.body.count, before)
    assert.ok(!left.text.includes(link.token))
  })
})
