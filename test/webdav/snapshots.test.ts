import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startServer } from '../support/server.ts'
import { DavClient } from './dav-client.ts'

it('shows the past, from which items are copied back with their content of that time', async () => {
  let now = 1_800_000_000
  await using server = await startServer({ now: () => now })
  const user = await server.signUp({ password: 'pass word 1' })
  await user.createLibrary('Notes')
  const dav = new DavClient(server.url, user.email, 'pass word 1')
  const at = () => `@${new Date(now * 1000).toISOString().slice(0, 16)}`
  await dav.put('/dav/Notes/a.txt', 'first')
  now += 120
  const then = at()
  now += 120
  await dav.put('/dav/Notes/a.txt', 'second')
  await dav.put('/dav/Notes/b.txt', 'later')
  assert.equal((await dav.call('GET', `/dav/${then}/Notes/a.txt`)).text, 'first')
  assert.deepEqual(await dav.names(`/dav/${then}/Notes/`), ['a.txt'])
  // Windows has no colons in names.
  assert.deepEqual(await dav.names(`/seafdav/${then.replace(':', '.')}/Notes`), ['a.txt'])
  const headers = { Destination: '/dav/Notes/a.txt' }
  assert.equal((await dav.call('COPY', `/dav/${then}/Notes/a.txt`, { headers })).status, 204)
  assert.equal((await dav.call('GET', '/dav/Notes/a.txt')).text, 'first')
  assert.equal((await dav.call('MOVE', `/dav/${then}/Notes/a.txt`, { headers })).status, 403)
  const into = { Destination: `/dav/${then}/Notes/c.txt` }
  assert.equal((await dav.call('COPY', '/dav/Notes/b.txt', { headers: into })).status, 403)
  for (const method of ['DELETE', 'MKCOL', 'LOCK', 'PROPPATCH', 'PUT']) {
    assert.equal((await dav.call(method, `/dav/${then}/Notes/a.txt`)).status, 403, method)
  }
})
