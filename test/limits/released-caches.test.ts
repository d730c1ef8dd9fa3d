import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { startServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

it('a server that released its caches answers as before', async () => {
  await using server = await startServer()
  const user = await server.signUp()
  const library = await user.createLibrary('Notes')
  await uploadFile(user, library, '/folder/a.txt', 'text')
  const large = randomBytes(3_000_000)
  await uploadFile(user, library, '/folder/large.bin', large)
  const download = async () => {
    const { body } = await user.get(`/api2/repos/${library}/file/`, { p: '/folder/large.bin', reuse: 1 })
    const range = await fetch(body, { headers: { Range: 'bytes=100000-599999' } })
    assert.ok(large.subarray(100_000, 600_000).equals(Buffer.from(await range.arrayBuffer())))
    const whole = await fetch(body)
    assert.ok(large.equals(Buffer.from(await whole.arrayBuffer())))
  }
  await download()
  const list = () => user.get(`/api/v2.1/repos/${library}/dir/`, { p: '/', recursive: 1 })
  const search = () => user.get('/api2/search/', { q: 'folder', search_repo: library })
  await eventually(async () => assert.equal((await search()).body.total, 1))
  const before = await list()
  // Also while a transaction runs.
  const [, , uploaded] = await Promise.all([
    download(),
    server.running.releaseCaches(),
    uploadFile(user, library, '/b.txt', 'more'),
  ])
  assert.equal(uploaded.name, 'b.txt')
  await server.running.releaseCaches()
  await download()
  const after = await list()
  assert.equal(after.status, 200)
  assert.deepEqual(
    after.body.dirent_list.filter((entry: { name: string }) => entry.name !== 'b.txt'),
    before.body.dirent_list,
  )
  assert.equal((await search()).body.total, 1)
})
