import { seededRandom } from './random.ts'

/** Whether the deep tier runs, or a file named on the command line. */
export const isDeep = process.env['CARREL_TEST_DEEP'] === '1'

/** Whether suites have the lengths they had before they were shortened (docs/testing.md). */
export const isLong = process.env['CARREL_TEST_LONG'] === '1'

/**
 * The length of a randomized suite: a short version in the fast tier, a longer one in the deep tier and when the file is named on the
 * command line, and `long` when it is asked for.
 */
export function rounds(fast: number, deep: number, long = deep): number {
  if (!isDeep) return fast
  return isLong ? long : deep
}

/** The cases of a suite: some at random in the fast tier, `deep` of them in the deep tier, which is all unless stated. */
export function sample<T>(
  cases: readonly T[],
  fast: number,
  seed: number,
  deep = cases.length,
): readonly T[] {
  const count = rounds(fast, deep, cases.length)
  return count >= cases.length ? cases : shuffled(cases, seed).slice(0, count)
}

/**
 * The cases of a suite that runs on both databases: some at random in the fast tier, in the deep tier a random half on SQLite and the others
 * on PostgreSQL, and all on each when it is asked for.
 */
export function sampleOfDatabase<T>(cases: readonly T[], fast: number, seed: number): readonly T[] {
  if (isDeep && isLong) return cases
  const inOrder = shuffled(cases, seed)
  if (!isDeep) return inOrder.slice(0, fast)
  const half = Math.ceil(cases.length / 2)
  return process.env['CARREL_TEST_DATABASE'] === 'postgres' ? inOrder.slice(half) : inOrder.slice(0, half)
}

function shuffled<T>(cases: readonly T[], seed: number): T[] {
  const random = seededRandom(seed)
  return cases
    .map((one) => ({ one, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one)
}
