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

it('lists what existed at a time, and nothing at a time that does not exist', async () => {
  let now = 1_800_000_000 // 2027-01-15T08:00:00Z
  await using server = await startServer({ now: () => now })
  const user = await server.signUp({ password: 'pass word 1' })
  const friend = await server.signUp({ password: 'pass word 1' })
  const dav = new DavClient(server.url, user.email, 'pass word 1')
  const theirs = new DavClient(server.url, friend.email, 'pass word 1')
  await user.createLibrary('Old')
  await dav.call('MKCOL', '/dav/Old/shared')
  now += 600
  await user.createLibrary('New')
  const later = await friend.createLibrary('Later')
  await theirs.call('MKCOL', '/dav/Later/folder')
  for (const p of ['/', '/folder']) {
    await friend.put(`/api2/repos/${later}/dir/shared_items/`, {
      query: { p },
      form: { share_type: 'user', username: user.email, permission: 'r' },
    })
  }
  now += 600
  assert.deepEqual(await dav.names('/dav/@2027-01-15T08:20/'), ['Later', 'New', 'Old', 'folder'])
  const shown = await dav.propfind('/dav/@2027-01-15T08:05/', '1')
  assert.deepEqual(await dav.names('/dav/@2027-01-15T08:05/'), ['Old'])
  // The entity tag is that of the root at the time, and no time of now is shown for it.
  assert.match(shown.text, /Old\/<\/d:href>.*<d:getetag>"[0-9a-f]{40}"<\/d:getetag>/)
  assert.doesNotMatch(shown.text, /getlastmodified/)
  assert.doesNotMatch((await dav.propfind('/dav/@2027-01-15T08:05/Old/', '0')).text, /getlastmodified/)
  assert.deepEqual(await dav.names('/dav/@2027-01-15/'), [])
  const impossible = ['@2026-02-31', '@2026-13-01', '@2026-00-10', '@2027-02-29T10:00', '@2026-01-01T25:00']
  for (const name of [...impossible, '@2026-01-01T10:60', '@2026-01-01T10:00+99:00']) {
    for (const path of [`/dav/${name}/`, `/dav/${name}/Old/`, `/dav/${name}/Old/shared/`]) {
      assert.equal((await dav.propfind(path, '1')).status, 404, path)
      assert.equal((await dav.call('GET', path)).status, 404, path)
    }
    assert.equal((await dav.put(`/dav/${name}/Old/x`, 'x')).status, 404, name)
  }
})
