/** What a returned buffer is filled with. */
export const POISON = 0xdb

const isOn = process.env['CARREL_TEST_POISON'] === '1'

/**
 * Fills a buffer that is returned to its pool, if `CARREL_TEST_POISON` is 1: a use of it after its return then shows as
 * wrong bytes. Off outside of tests, because filling costs as much as reading.
 */
export function poison(returned: Uint8Array): void {
  if (isOn) returned.fill(POISON)
}
