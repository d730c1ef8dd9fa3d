import { seededRandom } from './random.ts'

/** Whether the deep tier runs, or a file named on the command line. */
export const isDeep = process.env['CARREL_TEST_DEEP'] === '1'

/**
 * The length of a randomized suite: a short version in the fast tier, the whole in the deep tier and when the file is named on the
 * command line.
 */
export function rounds(fast: number, deep: number): number {
  return isDeep ? deep : fast
}

/** The cases of a suite: some at random in the fast tier, all of them otherwise. */
export function sample<T>(cases: readonly T[], fast: number, seed: number): readonly T[] {
  if (isDeep) return cases
  const random = seededRandom(seed)
  return cases
    .map((one) => ({ one, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, fast)
    .map(({ one }) => one)
}
