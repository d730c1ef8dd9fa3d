import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { makeGroup } from './sharing-support.ts'

const path = '/api/v2.1/admin/devices/'
const password = 'a long password'

async function signInOn(url: string, email: string, platform: string, device: string): Promise<Client> {
  const form = { username: email, password, platform, device_id: device, device_name: `my ${platform}` }
  const reply = await new Client(url).post('/api2/auth-token/', { form })
  assert.equal(reply.status, 200, reply.text)
  return new Client(url, reply.body.token, email)
}

describe('devices and statistics for administrators', () => {
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
    const fields = { user: ann.email, platform: 'linux', device_id: 'a'.repeat(40) }
    const bad: [form: Record<string, string>, status: number, message: string][] = [
      [{ user: '' }, 400, 'user invalid.'],
      [{ platform: 'toaster' }, 400, 'platform invalid.'],
      [{ device_id: '' }, 400, 'device_id invalid.'],
      [{ user: 'nobody@example.org' }, 404, 'User nobody@example.org not found.'],
    ]
    for (const [form, status, message] of bad) {
      const reply = await admin.delete(path, { form: { ...fields, ...form } })
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
    assert.equal((await desk.get('/api2/auth/ping/')).status, 200)
    assert.deepEqual((await admin.delete(path, { form: fields })).body, { success: true })
    assert.equal((await desk.get('/api2/auth/ping/')).status, 401)
    assert.deepEqual(await names({}), ['my android'])
  })

  it('marks a device for wiping exactly once', async () => {
    await using server = await startServer({ now: () => 1_754_000_000 })
    const [user, admin] = [await server.signUp({ password }), await server.admin()]
    const confirm = (token: string) => server.anonymous.post('/api2/device-wiped/', { form: { token } })
    for (const [remover, url, more] of [
      [user, '/api2/devices/', {}],
      [admin, path, { user: user.email }],
    ] as const) {
      const phone = await signInOn(server.url, user.email, 'android', 'c1')
      const token = phone.token ?? ''
      const early = await confirm(token)
      assert.deepEqual([early.status, early.body], [400, { error_msg: 'invalid device token' }])
      const form = { ...more, platform: 'android', device_id: 'c1', wipe_device: 'true' }
      assert.deepEqual((await remover.delete(url, { form })).body, { success: true })
      const refused = await phone.get('/api2/auth/ping/')
      assert.deepEqual(
        [refused.status, refused.body, refused.headers.get('x-seafile-wiped')],
        [401, { detail: 'Device set to be remote wiped' }, 'true'],
      )
      const [listed] = (await user.get('/api2/devices/')).body
      assert.equal(listed.wiped_at, '2025-07-31T22:13:20+00:00')
      assert.deepEqual((await confirm(token)).body, {})
      assert.deepEqual((await user.get('/api2/devices/')).body, [])
      const again = await confirm(token)
      assert.deepEqual([again.status, again.body], [404, { error_msg: `token ${token} not found.` }])
    }
    for (const token of ['', 'x', 'f'.repeat(41)]) {
      assert.deepEqual((await confirm(token)).body, { error_msg: 'token invalid.' })
    }
    // Signing in on a device that is still to be wiped issues a separate token and leaves the mark in place.
    const phone = await signInOn(server.url, user.email, 'android', 'c1')
    const fields = { platform: 'android', device_id: 'c1', wipe_device: 'true' }
    await user.delete('/api2/devices/', { form: fields })
    const next = await signInOn(server.url, user.email, 'android', 'c1')
    assert.notEqual(next.token, phone.token)
    assert.equal((await next.get('/api2/auth/ping/')).status, 200)
    assert.equal((await phone.get('/api2/auth/ping/')).status, 401)
    const unknown = { platform: 'android', device_id: 'c2', wipe_device: 'true' }
    assert.deepEqual((await user.delete('/api2/devices/', { form: unknown })).body, { success: true })
  })

  it('returns the current numbers and those of each day', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time })
    const { statistics } = server.running.services
    const admin = await server.admin()
    const user = await server.signUp()
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'abc')
    await makeGroup('Counted', user)
    const info = await admin.get('/api/v2.1/admin/sysinfo/')
    assert.deepEqual(info.body, {
      users_count: 2,
      active_users_count: 2,
      groups_count: 1,
      repos_count: 1,
      total_files_count: 1,
      total_storage: 3,
      total_devices_count: 0,
      current_connected_devices_count: 0,
    })
    await statistics.record()
    time += 86_400
    await uploadFile(user, library, '/b.txt', 'abcd')
    await statistics.record()
    // A second count on the same day replaces the first.
    await statistics.record()
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
