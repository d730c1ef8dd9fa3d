import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProcessScaler } from './process-scaler.ts'

describe('the number of processes', () => {
  it('grows when all have been saturated for five seconds', () => {
    const scaler = new ProcessScaler(4)
    assert.deepEqual(decisions(scaler, 4, [0.99]), [])
    assert.deepEqual(decisions(scaler, 1, [0.5]), [], 'a pause counts from the beginning')
    assert.deepEqual(decisions(scaler, 5, [0.99]), ['grow'])
    assert.deepEqual(decisions(scaler, 4, [0.99, 0.9]), [])
    assert.deepEqual(decisions(scaler, 1, [0.99, 0.9]), ['grow'])
  })

  it('does not grow while one has time, nor beyond the limit', () => {
    const scaler = new ProcessScaler(2)
    assert.deepEqual(decisions(scaler, 60, [0.99, 0.5]), [])
    assert.deepEqual(decisions(scaler, 60, [1, 1]), [])
  })

  it('shrinks after five minutes in which the others could do its work', () => {
    const scaler = new ProcessScaler(4)
    assert.deepEqual(decisions(scaler, 299, [0.3, 0.2, 0.1]), [])
    assert.deepEqual(decisions(scaler, 1, [0.3, 0.5, 0.3]), [])
    assert.deepEqual(decisions(scaler, 300, [0.3, 0.2, 0.1]), ['shrink'])
    assert.deepEqual(decisions(scaler, 600, [0.3, 0.2]), [])
    assert.deepEqual(decisions(scaler, 300, [0.1, 0.2]), ['shrink'])
    assert.deepEqual(decisions(scaler, 600, [0]), [], 'the last one stays')
  })
})

/** What is decided, other than to stay, in so many seconds. */
function decisions(scaler: ProcessScaler, seconds: number, utilizations: readonly number[]): string[] {
  return Array.from({ length: seconds }, () => scaler.decide(utilizations)).filter((one) => one !== 'stay')
}
