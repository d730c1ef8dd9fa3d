import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

it('a server that released its caches answers as before', async () => {
  await using server = await startServer()
  const user = await server.signUp()
  const library = await user.createLibrary('Notes')
  await uploadFile(user, library, '/folder/a.txt', 'text')
  const list = () => user.get(`/api/v2.1/repos/${library}/dir/`, { p: '/', recursive: 1 })
  const search = () => user.get('/api2/search/', { q: 'folder', search_repo: library })
  await eventually(async () => assert.equal((await search()).body.total, 1))
  const before = await list()
  // Also while a transaction runs.
  const [, uploaded] = await Promise.all([
    server.running.releaseCaches(),
    uploadFile(user, library, '/b.txt', 'more'),
  ])
  assert.equal(uploaded.name, 'b.txt')
  await server.running.releaseCaches()
  const after = await list()
  assert.equal(after.status, 200)
  assert.deepEqual(
    after.body.dirent_list.filter((entry: { name: string }) => entry.name !== 'b.txt'),
    before.body.dirent_list,
  )
  assert.equal((await search()).body.total, 1)
})
