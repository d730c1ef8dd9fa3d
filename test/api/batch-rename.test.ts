import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

async function withFiles(...paths: string[]): Promise<Workspace> {
  const space = await Workspace.make(server)
  for (const path of paths) await uploadFile(space.client, space.id, path, `content of ${path}`)
  return space
}

function rename(space: Workspace, renamings: Record<string, string>, folder = '/') {
  const json = {
    repo_id: space.id,
    parent_dir: folder,
    dirents: Object.keys(renamings),
    new_names: Object.values(renamings),
  }
  return space.client.post('/api/v2.1/repos/batch-rename-item/', { json })
}

const commits = async (space: Workspace) => (await space.client.get(space.v21('history/'))).body.data.length

describe('renaming several entries of a folder', () => {
  it('is one commit, also if they exchange their names, and what is bound to them follows', async () => {
    const space = await withFiles('/in/a.txt', '/in/b.txt', '/in/c.txt', '/in/box/d.txt')
    await space.client.post('/api/v2.1/starred-items/', { form: { repo_id: space.id, path: '/in/a.txt' } })
    await space.client.post('/api/v2.1/starred-items/', {
      form: { repo_id: space.id, path: '/in/box/d.txt' },
    })
    const before = await commits(space)
    const renamed = await rename(
      space,
      { 'a.txt': 'b.txt', 'b.txt': 'a.txt', 'c.txt': 'd.txt', box: 'c.txt' },
      '/in',
    )
    assert.equal(renamed.status, 200, renamed.text)
    assert.equal(await commits(space), before + 1)
    assert.deepEqual((await space.names('/in')).toSorted(), ['a.txt', 'b.txt', 'c.txt', 'd.txt'])
    assert.deepEqual(await space.names('/in/c.txt'), ['d.txt'])
    const { body } = await space.client.get('/api/v2.1/starred-items/')
    const stars = body.starred_item_list.map((one: { path: string; deleted: boolean }) => [
      one.path,
      one.deleted,
    ])
    assert.deepEqual(stars.toSorted(), [
      ['/in/b.txt', false],
      ['/in/c.txt/d.txt', false],
    ])
    const { body: history } = await space.client.get(space.v21('history/'))
    assert.equal(history.data[0].description, 'Renamed "a.txt" and 3 more files')
  })

  it('renames none if a name is taken, wanted twice, invalid or locked, or an entry is missing', async () => {
    const space = await withFiles('/a.txt', '/b.txt', '/c.txt')
    const before = await commits(space)
    const taken = await rename(space, { 'a.txt': 'c.txt', 'b.txt': 'x.txt' })
    assert.equal(taken.status, 409)
    assert.equal(taken.body.error_msg, 'These names are taken: c.txt.')
    assert.equal((await rename(space, { 'a.txt': 'x.txt', 'b.txt': 'x.txt' })).status, 409)
    assert.equal((await rename(space, { 'a.txt': 'b.txt', 'b.txt': 'b.txt' })).status, 409)
    for (const name of ['', '..', 'x/y', 'y'.repeat(300)]) {
      assert.equal((await rename(space, { 'a.txt': name })).status, 400, name)
    }
    assert.equal((await rename(space, { 'a.txt': 'x.txt', 'missing.txt': 'y.txt' })).status, 404)
    const json = { repo_id: space.id, parent_dir: '/', dirents: ['a.txt', 'a.txt'], new_names: ['1', '2'] }
    assert.equal((await space.client.post('/api/v2.1/repos/batch-rename-item/', { json })).status, 400)
    const other = await server.signUp()
    await space.client.put(space.v2('dir/shared_items/'), {
      query: { p: '/' },
      form: { share_type: 'user', username: other.email, permission: 'rw' },
    })
    await other.put(space.v21('file/'), { query: { p: '/b.txt' }, form: { operation: 'lock' } })
    assert.equal((await rename(space, { 'a.txt': 'x.txt', 'b.txt': 'y.txt' })).status, 423)
    assert.equal(await commits(space), before)
    assert.equal((await rename(space, { 'a.txt': 'a.txt' })).status, 200)
    assert.equal(await commits(space), before)
  })
})
