import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { makeFolder, makeGroup, shareWith, shareWithGroup } from './sharing-support.ts'

describe('the list of who can see an item', () => {
  let server: TestServer
  let clock = 1_790_000_000
  before(async () => {
    server = await startServer({ now: () => clock })
  })
  after(() => server[Symbol.asyncDispose]())

  const listed = async (client: Client, id: string, path: string) => {
    const { status, body, text } = await client.get(`/api/v2.1/repos/${id}/access-list/`, { path })
    assert.equal(status, 200, text)
    return {
      owner: body.owner.email,
      shares: body.shares.map((one: Record<string, string>) =>
        [one['relation'], one['path'], one['group_name'] ?? one['user_email'], one['permission']].join(' '),
      ),
      links: body.links.map((one: Record<string, string>) =>
        [one['relation'], one['path'], one['type'], one['creator_name']].join(' '),
      ),
      since: [...body.shares, ...body.links].map(({ since }) => since),
    }
  }
  const summary = async (client: Client) => (await client.get('/api/v2.1/access-summary/')).body.libraries

  it('has the shares and links on it, above it and below it, and none that do not work', async () => {
    const [owner, friend, boss] = [await server.signUp(), await server.signUp(), await server.signUp()]
    const id = await owner.createLibrary('Plans')
    await makeFolder(owner, id, '/a/b')
    await uploadFile(owner, id, '/a/b/file.txt', 'text')
    await uploadFile(owner, id, '/a/other.txt', 'text')
    assert.deepEqual(await summary(owner), [])
    assert.deepEqual(await listed(owner, id, '/'), { owner: owner.email, shares: [], links: [], since: [] })

    const group = await makeGroup('Team', owner)
    await shareWithGroup(owner, id, group)
    clock += 86_400
    await shareWith(owner, id, boss, { path: '/a', permission: 'admin' })
    await shareWith(owner, id, friend, { path: '/a/b', permission: 'r' })
    const link = async (client: Client, repo: string, path: string, more = {}) => {
      const { status, body, text } = await client.post('/api/v2.1/share-links/', {
        json: { repo_id: repo, path, ...more },
      })
      assert.equal(status, 200, text)
      return body.token as string
    }
    await link(owner, id, '/a/b/file.txt')
    await link(owner, id, '/a/other.txt', { expire_days: 1 })
    const name = owner.email.split('@')[0]
    const whole = await listed(owner, id, '/')
    assert.deepEqual(whole.shares, [
      'here / Team rw',
      `below /a ${boss.email} rw`,
      `below /a/b ${friend.email} r`,
    ])
    assert.ok(whole.links.includes(`below /a/b/file.txt share ${name}`))
    assert.ok(whole.links.includes(`below /a/other.txt share ${name}`))
    assert.equal(Date.parse(whole.since[1] ?? '') - Date.parse(whole.since[0] ?? ''), 86_400_000)
    clock += 2 * 86_400
    const inner = await listed(owner, id, '/a/b')
    assert.deepEqual(inner.shares, [
      `here /a/b ${friend.email} r`,
      'above / Team rw',
      `above /a ${boss.email} rw`,
    ])
    assert.ok(!inner.links.some((one: string) => one.includes('other')), 'neither beside it nor expired')
    assert.deepEqual((await listed(owner, id, '/a/b/file.txt')).links, [`here /a/b/file.txt share ${name}`])
    const [counted] = await summary(owner)
    assert.deepEqual([counted.repo_id, counted.shares, counted.shares_inside], [id, 1, 2])
    assert.equal(counted.links, inner.links.length)

    // A manager of the folder is not told what is outside, and sees what is above as the root.
    const { body: folders } = await boss.get('/api/v2.1/repos/', { type: 'shared' })
    const view = folders.repos.find((one: { repo_name: string }) => one.repo_name === 'a').repo_id
    assert.deepEqual((await listed(boss, view, '/')).shares, [
      `here / ${boss.email} rw`,
      'above / Team rw',
      `below /b ${friend.email} r`,
    ])
    assert.deepEqual(await summary(boss), [])
    assert.equal((await friend.get(`/api/v2.1/repos/${id}/access-list/`, { path: '/' })).status, 403)
    assert.equal((await owner.get(`/api/v2.1/repos/${id}/access-list/`, { path: '/none' })).status, 404)
  })
})
