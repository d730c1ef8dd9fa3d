import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LoginThrottle } from './login-throttle.ts'

function throttleAt(start: number) {
  const clock = { time: start }
  return { clock, throttle: new LoginThrottle(() => clock.time) }
}

function failTimes(throttle: LoginThrottle, times: number, name: string, network: string): void {
  for (let count = 0; count < times; count += 1) assert.equal(throttle.begin(name, { network }), undefined)
}

describe('LoginThrottle', () => {
  it('permits ten failures for a name from one address, and then returns the time to wait', () => {
    const { clock, throttle } = throttleAt(1000)
    failTimes(throttle, 1, 'ann', 'here')
    clock.time = 1100
    failTimes(throttle, 9, 'ann', 'here')
    assert.equal(throttle.begin('ann', { network: 'here' }), 200)
    clock.time = 1299
    assert.equal(throttle.begin('ann', { network: 'here' }), 1)
  })

  it('frees attempts as old ones leave the window; rejected attempts do not extend it', () => {
    const { clock, throttle } = throttleAt(1000)
    failTimes(throttle, 5, 'ann', 'here')
    clock.time = 1100
    failTimes(throttle, 5, 'ann', 'here')
    clock.time = 1200
    assert.equal(throttle.begin('ann', { network: 'here' }), 100)
    clock.time = 1300
    failTimes(throttle, 5, 'ann', 'here')
    assert.equal(throttle.begin('ann', { network: 'here' }), 100)
  })

  it('counts other names and other addresses separately', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 10, 'ann', 'here')
    failTimes(throttle, 10, 'ann', 'there')
    failTimes(throttle, 10, 'bob', 'here')
    assert.equal(throttle.begin('ann', { network: 'here' }), 300)
  })

  it('normalizes the spelling of a name', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 5, 'ann', 'here')
    failTimes(throttle, 5, ' ANN ', 'here')
    assert.equal(throttle.begin('Ann', { network: 'here' }), 300)
  })

  it('gives all spellings of a name the ten failures of one', () => {
    const { throttle } = throttleAt(1000)
    // Two accents make four spellings in Unicode, each of which finds the account.
    const spellings = [
      'ren\u00e9-zo\u00e9',
      'rene\u0301-zo\u00e9',
      'ren\u00e9-zoe\u0301',
      'rene\u0301-zoe\u0301',
    ]
    let admitted = 0
    for (let tries = 0; tries < 10; tries += 1) {
      for (const name of spellings) {
        if (throttle.begin(`${name}@example.org`, { network: 'here' }) === undefined) admitted += 1
      }
    }
    assert.equal(admitted, 10)
  })

  it('permits a hundred failures for a name from all addresses', () => {
    const { clock, throttle } = throttleAt(1000)
    for (let address = 0; address < 10; address += 1) {
      clock.time = 1000 + address
      failTimes(throttle, 10, 'ann', `address ${address}`)
    }
    assert.equal(throttle.begin('ann', { network: 'elsewhere' }), 291)
    clock.time = 1300
    failTimes(throttle, 10, 'ann', 'elsewhere')
    assert.equal(throttle.begin('ann', { network: 'one more' }), 1)
  })

  it('resets the failures of an address on its success, and only those', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 9, 'ann', 'here')
    failTimes(throttle, 10, 'ann', 'there')
    failTimes(throttle, 1, 'ann', 'here')
    throttle.succeed('ann', { network: 'here' })
    failTimes(throttle, 10, 'ann', 'here')
    assert.equal(throttle.begin('ann', { network: 'there' }), 300)
    throttle.succeed('nobody', { network: 'here' })
  })

  it('does not let strangers lock out a network or a device that had the right password lately', () => {
    const { clock, throttle } = throttleAt(1000)
    throttle.succeed('ann', { network: 'home', device: 'phone' })
    clock.time += 29 * 86_400
    for (let network = 0; network < 10; network += 1) failTimes(throttle, 10, 'ann', `address ${network}`)
    assert.equal(throttle.begin('ann', { network: 'elsewhere' }), 300)
    failTimes(throttle, 10, 'ann', 'home')
    assert.equal(throttle.begin('ann', { network: 'home' }), 300)
    const phone = { network: 'elsewhere', device: 'phone' }
    for (let tries = 0; tries < 10; tries += 1) assert.equal(throttle.begin('ann', phone), undefined)
    assert.equal(throttle.begin('ann', phone), 300)
    assert.equal(throttle.begin('ann', { network: 'elsewhere', device: 'another' }), 300)
    clock.time += 2 * 86_400
    for (let network = 0; network < 10; network += 1) failTimes(throttle, 10, 'ann', `address ${network}`)
    assert.equal(throttle.begin('ann', { network: 'home' }), 300)
  })

  it('knows the last 20 sources of right passwords', () => {
    const { throttle } = throttleAt(1000)
    for (let source = 0; source < 21; source += 1) throttle.succeed('ann', { network: `home ${source}` })
    for (let network = 0; network < 10; network += 1) failTimes(throttle, 10, 'ann', `address ${network}`)
    assert.equal(throttle.begin('ann', { network: 'home 0' }), 300)
    failTimes(throttle, 1, 'ann', 'home 1')
  })

  it('keeps a bounded number of names, the latest ones', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 10, 'first', 'here')
    for (let name = 0; name < 25_000; name += 1) failTimes(throttle, 1, `name ${name}`, 'here')
    assert.equal(throttle.size, 20_000)
    failTimes(throttle, 9, 'name 24999', 'here')
    assert.equal(throttle.begin('name 24999', { network: 'here' }), 300)
    failTimes(throttle, 1, 'first', 'here')
  })

  it('does not count an attempt that was not made', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 10, 'ann', 'here')
    throttle.cancel('ann', { network: 'here' })
    failTimes(throttle, 1, 'ann', 'here')
    assert.equal(throttle.begin('ann', { network: 'here' }), 300)
    failTimes(throttle, 1, 'bob', 'here')
    throttle.cancel('bob', { network: 'here' })
    throttle.cancel('bob', { network: 'here' })
    assert.equal(throttle.size, 1)
  })
})
