import type { Fault } from '../support/fault-injection.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { isLong } from '../support/tier.ts'

const random = seededRandom(testSeed())

/**
 * One at random of the errors that a step of a write path can have, and a short write if it is among them. `CARREL_TEST_LONG=1` takes
 * all: another number of an error takes the same way through most of the code.
 */
export function someErrors(effects: readonly Fault['effect'][]): readonly Fault['effect'][] {
  if (isLong) return effects
  const errors = effects.filter((effect) => effect !== 'short')
  const at = Math.floor(random() * errors.length)
  return [...errors.slice(at, at + 1), ...effects.filter((effect) => effect === 'short')]
}
