import assert from 'node:assert/strict'
import { it } from 'node:test'
import { StepSize } from './step-size.ts'

it('a step is halved when the last one took long, and doubled when it was short', async () => {
  const clock = { ms: 0 }
  const size = new StepSize(() => clock.ms)
  const take = async (ms: number, times: number) => {
    for (let n = 0; n < times; n++) {
      await size.run(async () => {
        clock.ms += ms
      })
    }
    return size.rows
  }
  assert.equal(await take(3, 5), 64)
  assert.equal(await take(20, 1), 32)
  assert.equal(await take(20, 9), 16)
  assert.equal(await take(1, 1), 32)
  assert.equal(await take(1, 9), 256)
})
