import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LoginThrottle } from './login-throttle.ts'

function throttleAt(start: number) {
  const clock = { time: start }
  return { clock, throttle: new LoginThrottle(() => clock.time) }
}

function failTimes(throttle: LoginThrottle, times: number, name: string, address: string): void {
  for (let count = 0; count < times; count += 1) assert.equal(throttle.begin(name, address), undefined)
}

describe('LoginThrottle', () => {
  it('permits ten failures for a name from one address, and then returns the time to wait', () => {
    const { clock, throttle } = throttleAt(1000)
    failTimes(throttle, 1, 'ann', 'here')
    clock.time = 1100
    failTimes(throttle, 9, 'ann', 'here')
    assert.equal(throttle.begin('ann', 'here'), 200)
    clock.time = 1299
    assert.equal(throttle.begin('ann', 'here'), 1)
  })

  it('frees attempts as old ones leave the window; rejected attempts do not extend it', () => {
    const { clock, throttle } = throttleAt(1000)
    failTimes(throttle, 5, 'ann', 'here')
    clock.time = 1100
    failTimes(throttle, 5, 'ann', 'here')
    clock.time = 1200
    assert.equal(throttle.begin('ann', 'here'), 100)
    clock.time = 1300
    failTimes(throttle, 5, 'ann', 'here')
    assert.equal(throttle.begin('ann', 'here'), 100)
  })

  it('counts other names and other addresses separately', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 10, 'ann', 'here')
    failTimes(throttle, 10, 'ann', 'there')
    failTimes(throttle, 10, 'bob', 'here')
    assert.equal(throttle.begin('ann', 'here'), 300)
  })

  it('normalizes the spelling of a name', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 5, 'ann', 'here')
    failTimes(throttle, 5, ' ANN ', 'here')
    assert.equal(throttle.begin('Ann', 'here'), 300)
  })

  it('permits a hundred failures for a name from all addresses', () => {
    const { clock, throttle } = throttleAt(1000)
    for (let address = 0; address < 10; address += 1) {
      clock.time = 1000 + address
      failTimes(throttle, 10, 'ann', `address ${address}`)
    }
    assert.equal(throttle.begin('ann', 'elsewhere'), 291)
    clock.time = 1300
    failTimes(throttle, 10, 'ann', 'elsewhere')
    assert.equal(throttle.begin('ann', 'one more'), 1)
  })

  it('resets the failures of an address on its success, and only those', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 9, 'ann', 'here')
    failTimes(throttle, 10, 'ann', 'there')
    failTimes(throttle, 1, 'ann', 'here')
    throttle.succeed('ann', 'here')
    failTimes(throttle, 10, 'ann', 'here')
    assert.equal(throttle.begin('ann', 'there'), 300)
    throttle.succeed('nobody', 'here')
  })

  it('keeps a bounded number of names, the latest ones', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 10, 'first', 'here')
    for (let name = 0; name < 25_000; name += 1) failTimes(throttle, 1, `name ${name}`, 'here')
    assert.equal(throttle.size, 20_000)
    failTimes(throttle, 9, 'name 24999', 'here')
    assert.equal(throttle.begin('name 24999', 'here'), 300)
    failTimes(throttle, 1, 'first', 'here')
  })

  it('does not count an attempt that was not made', () => {
    const { throttle } = throttleAt(1000)
    failTimes(throttle, 10, 'ann', 'here')
    throttle.cancel('ann', 'here')
    failTimes(throttle, 1, 'ann', 'here')
    assert.equal(throttle.begin('ann', 'here'), 300)
    failTimes(throttle, 1, 'bob', 'here')
    throttle.cancel('bob', 'here')
    throttle.cancel('bob', 'here')
    assert.equal(throttle.size, 1)
  })
})
