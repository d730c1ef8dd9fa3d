import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const path = '/api/v2.1/admin/devices/'
const password = 'a long password'

async function signInOn(url: string, email: string, platform: string, device: string): Promise<Client> {
  const form = { username: email, password, platform, device_id: device, device_name: `my ${platform}` }
  const reply = await new Client(url).post('/api2/auth-token/', { form })
  assert.equal(reply.status, 200, reply.text)
  return new Client(url, reply.body.token, email)
}

describe('devices and numbers for administrators', () => {
  it('lists the devices of all accounts and unlinks them', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const admin = await server.admin()
    const [ann, bob] = [await server.signUp({ password }), await server.signUp({ password })]
    const desk = await signInOn(server.url, ann.email, 'linux', 'a'.repeat(40))
    time += 10
    await signInOn(server.url, bob.email, 'android', 'b1')
    const names = async (query: Record<string, string | number>) => {
      const reply = await admin.get(path, query)
      assert.equal(reply.status, 200, reply.text)
      return reply.body.devices.map((one: { device_name: string }) => one.device_name)
    }
    assert.deepEqual(await names({}), ['my android', 'my linux'])
    assert.deepEqual(await names({ platform: 'desktop' }), ['my linux'])
    assert.deepEqual(await names({ platform: 'mobile' }), ['my android'])
    assert.deepEqual(await names({ platform: 'android' }), ['my android'])
    assert.deepEqual(await names({ per_page: 1, page: 2 }), ['my linux'])
    const [device] = (await admin.get(path)).body.devices
    assert.equal(device.user, bob.email)
    assert.ok(!('key' in device))
    assert.deepEqual((await admin.get(path, { platform: 'toaster' })).body, {
      error_msg: 'platform invalid.',
    })
    const wish = { user: ann.email, platform: 'linux', device_id: 'a'.repeat(40) }
    const bad: [form: Record<string, string>, status: number, message: string][] = [
      [{ user: '' }, 400, 'user invalid.'],
      [{ platform: 'toaster' }, 400, 'platform invalid.'],
      [{ device_id: '' }, 400, 'device_id invalid.'],
      [{ user: 'nobody@example.org' }, 404, 'User nobody@example.org not found.'],
    ]
    for (const [form, status, message] of bad) {
      const reply = await admin.delete(path, { form: { ...wish, ...form } })
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
    assert.equal((await desk.get('/api2/auth/ping/')).status, 200)
    assert.deepEqual((await admin.delete(path, { form: wish })).body, { success: true })
    assert.equal((await desk.get('/api2/auth/ping/')).status, 401)
    assert.deepEqual(await names({}), ['my android'])
  })

  it('counts what there is, now and on each day', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const { statistics } = server.running.services
    const admin = await server.admin()
    const user = await server.signUp()
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'abc')
    const info = await admin.get('/api/v2.1/admin/sysinfo/')
    assert.deepEqual(info.body, {
      users_count: 2,
      active_users_count: 2,
      repos_count: 1,
      total_files_count: 1,
      total_storage: 3,
      total_devices_count: 0,
      current_connected_devices_count: 0,
    })
    await statistics.note()
    time += 86_400
    await uploadFile(user, library, '/b.txt', 'abcd')
    await statistics.note()
    // Counted again on the same day: the last count stands.
    await statistics.note()
    const days = ['2025-07-31T00:00:00+00:00', '2025-08-01T00:00:00+00:00']
    const storage = await admin.get('/api/v2.1/admin/statistics/total-storage/')
    assert.deepEqual(storage.body, [
      { datetime: days[0], total_storage: 3 },
      { datetime: days[1], total_storage: 7 },
    ])
    const files = await admin.get('/api/v2.1/admin/statistics/total-files/', { start: '2025-08-01' })
    assert.deepEqual(files.body, [{ datetime: days[1], count: 2 }])
    const active = await admin.get('/api/v2.1/admin/statistics/active-users/', {
      start: '2025-07-30 00:00:00',
      end: '2025-08-02 00:00:00',
    })
    // On the second day only one of them came back.
    assert.deepEqual(active.body, [
      { datetime: days[0], count: 2 },
      { datetime: days[1], count: 1 },
    ])
    const bad = await admin.get('/api/v2.1/admin/statistics/total-files/', { end: 'never' })
    assert.deepEqual([bad.status, bad.body], [400, { error_msg: 'end invalid.' }])
  })
})
