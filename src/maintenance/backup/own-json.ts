/** Parses JSON that this module wrote. The bytes are verified or decrypted before; a header is the first thing read of a target. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller wrote the value and knows its type.
export function parseOwnJson<T>(bytes: Uint8Array | string): T {
  return JSON.parse(typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')) as T
}
