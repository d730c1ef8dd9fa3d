/** Body limit of batch calls, in bytes: enough for 10,000 of the longest names in any encoding. */
export const BATCH_BODY_BYTES = 8 * 2 ** 20
