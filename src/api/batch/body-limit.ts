/** Bytes of a body that names many entries: room for 10,000 of the longest names, however they are encoded. */
export const BATCH_BODY_BYTES = 8 * 2 ** 20
