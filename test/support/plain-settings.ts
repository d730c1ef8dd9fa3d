/** Settings that select the plain disk store, if CARREL_TEST_PLAIN is 1, so that any suite over HTTP can be run on them. */
export function plainSettings(): Record<string, string> {
  return process.env['CARREL_TEST_PLAIN'] === '1' ? { CARREL_DISK: 'plain' } : {}
}
