import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deviceFieldsGiven, isDesktop, parseDevice } from './device.ts'

const named = (platform: string, deviceId: string) =>
  parseDevice({ platform, deviceId, deviceName: 'Mine', clientVersion: '1', platformVersion: '2' })

describe('the device fields of a login', () => {
  it('are complete, missing or partial; blank counts as missing', () => {
    const all = { platform: 'linux', deviceId: 'd', deviceName: 'n' }
    assert.equal(deviceFieldsGiven({}), 'none')
    assert.equal(deviceFieldsGiven({ platform: '', deviceId: '', deviceName: '' }), 'none')
    assert.equal(deviceFieldsGiven({ clientVersion: '9' }), 'none')
    assert.equal(deviceFieldsGiven(all), 'all')
    assert.equal(deviceFieldsGiven({ ...all, deviceName: '' }), 'some')
    assert.equal(deviceFieldsGiven({ platform: 'linux' }), 'some')
  })

  const accepted: [platform: string, deviceId: string][] = [
    ['windows', 'a'.repeat(40)],
    ['linux', 'Z'.repeat(40)],
    ['mac', '0'.repeat(40)],
    ['android', 'f'],
    ['android', 'DEADbeef01234567'],
    ['ios', '6F9619FF-8B86-D011-B42D-00CF4FC964FF'],
  ]
  for (const [platform, deviceId] of accepted) {
    it(`identify the ${platform} device ${deviceId.slice(0, 16)}`, () => {
      const device = { platform, deviceId, deviceName: 'Mine', clientVersion: '1', platformVersion: '2' }
      assert.deepEqual(named(platform, deviceId), device)
    })
  }

  const refusedIds: [platform: string, deviceId: string][] = [
    ['windows', 'a'.repeat(39)],
    ['linux', 'a'.repeat(41)],
    ['mac', `${'a'.repeat(39)}\0`],
    ['android', 'g'],
    ['android', '0'.repeat(17)],
    ['ios', 'a'.repeat(35)],
    ['ios', 'a'.repeat(40)],
  ]
  for (const [platform, deviceId] of refusedIds) {
    it(`reject ${deviceId.length} characters ${JSON.stringify(deviceId.slice(-1))} for ${platform}`, () =>
      assert.equal(named(platform, deviceId), 'invalid-device-id'))
  }

  it('reject other platforms, also those that are properties of every object', () => {
    for (const platform of ['beos', 'Linux', 'constructor', '__proto__', '']) {
      assert.equal(named(platform, 'a'.repeat(40)), 'invalid-platform')
    }
  })

  it('truncate the name to 40 characters without splitting one, and drop invisible ones', () => {
    const device = parseDevice({
      platform: 'linux',
      deviceId: 'd'.repeat(40),
      deviceName: `\0\n${'🦉'.repeat(41)}`,
    })
    assert.deepEqual(device, {
      platform: 'linux',
      deviceId: 'd'.repeat(40),
      deviceName: '🦉'.repeat(40),
      clientVersion: '',
      platformVersion: '',
    })
  })

  it('distinguish desktops from phones', () => {
    const platforms = ['windows', 'linux', 'mac', 'android', 'ios'] as const
    assert.deepEqual(platforms.filter(isDesktop), ['windows', 'linux', 'mac'])
  })
})
