/** Pseudorandom numbers from a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * The seed of a randomized test. It is the same in every run, so that a run can be repeated. `CARREL_TEST_SEED` sets
 * another one; `CARREL_TEST_SEED=random` searches for failures nobody has seen.
 */
export function testSeed(): number {
  const given = process.env['CARREL_TEST_SEED'] ?? '1'
  return given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given)
}
