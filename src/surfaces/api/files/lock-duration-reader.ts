import { integer } from '../../../platform/input/index.ts'

/** The longest lock that expires: about 300 years. */
const MAX_LOCK_SECONDS = 10_000_000_000

/** `expire`: seconds, 0 for the server's default, negative for never. */
export const lockSeconds = integer({ default: 0, max: MAX_LOCK_SECONDS, message: 'expire invalid.' })
